// The first k of each line in order: every element counts those that come before it.
// Bindings: 0 params, 1 source (outer, extent, inner), 2 values and 3 indices (outer, k, inner),
// the indices as 64-bit words. Grid: one invocation for each of the source's elements from
// params.first on.
alias Value = {{ value }};

struct Params {
  count: u32,
  extent: u32,
  inner: u32,
  k: u32,
  @size(16) first: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<{{ element }}>;
@group(0) @binding(2) var<storage, read_write> values: array<{{ element }}>;
@group(0) @binding(3) var<storage, read_write> indices: array<vec2<u32>>;

{% include 'lib/items.wgsl' %}
{% include 'lib/math.wgsl' %}

fn comes_before(x: Value, y: Value) -> bool {
  return {{ before }};
}

fn run_item(index: u32) {
  let at = params.first + index;
  let inner = at % params.inner;
  let mine = at / params.inner % params.extent;
  let outer = at / params.inner / params.extent;
  let start = outer * params.extent * params.inner + inner;
  let x = Value(source[at]);
  var place = 0u;
  for (var other = 0u; other < params.extent; other++) {
    let y = Value(source[start + other * params.inner]);
    let equal = !comes_before(x, y) && !comes_before(y, x);
    place += u32(comes_before(y, x) || (equal && other < mine));
  }
  if (place < params.k) {
    let target_at = (outer * params.k + place) * params.inner + inner;
    values[target_at] = source[at];
    indices[target_at] = vec2<u32>(mine, 0u);
  }
}
