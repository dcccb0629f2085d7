// Merges each element with those before it along an axis.
// Bindings: 0 params, 1 source, 2 target (outer, extent, inner). Grid: one invocation a line.
alias Value = {{ value }};

struct Params {
  count: u32,  // of lines
  extent: u32,
  inner: u32,
  reverse: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<{{ element }}>;
@group(0) @binding(2) var<storage, read_write> destination: array<{{ element }}>;

{% include 'lib/items.wgsl' %}

fn run_item(line: u32) {
  let start = line / params.inner * params.extent * params.inner + line % params.inner;
  var total = {{ start }};
  for (var k = 0u; k < params.extent; k++) {
    let at = start + select(k, params.extent - 1u - k, params.reverse == 1u) * params.inner;
    let x = Value(source[at]);
    let after = {{ merge }};
    destination[at] = {{ element }}({{ stored }});
    total = after;
  }
}
