// Adds elements around a tensor, or takes some off.
// Bindings: 0 params, 1 source, 2 fill (one element), 3 target. Grid: one invocation for each
// element of the target (or vector of neighbours along an innermost axis that is not padded).
struct Axis {
  padded: u32,
  extent: i32,
  before: i32,
  stride: i32,
}

struct Params {
  count: u32,
  @size(12) base: i32,  // first element of the source that is kept
  axes: array<Axis, {{ rank }}>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<{{ element }}>;
@group(0) @binding(2) var<storage, read> fill: array<{{ fill_element }}>;
@group(0) @binding(3) var<storage, read_write> destination: array<{{ element }}>;

{% include 'lib/items.wgsl' %}
{% include 'lib/remainder.wgsl' %}

// There and back without repeating the ends: a walk of period 2 (n - 1).
fn reflect(c: i32, n: i32) -> i32 {
  let period = max(2 * (n - 1), 1);
  let there = floor_remainder(c, period);
  return min(there, period - there) * min(n - 1, 1);
}

fn run_item(index: u32) {
  var rest = index;
  var offset = params.base;
  var inside = true;
  for (var axis = {{ rank }}u; axis > 0u; axis--) {
    let a = params.axes[axis - 1u];
    let n = a.extent;
    let c = i32(rest % a.padded) - a.before;
    rest /= a.padded;
    let found = {{ coordinate }};
    inside = inside && found >= 0 && found < n;
    offset += found * a.stride;
  }
  var value = {{ fill }};
  if (inside) {
    value = source[offset];
  }
  destination[index] = value;
}
