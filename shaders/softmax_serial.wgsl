// Softmax and its kin, one invocation for each row.
// Bindings: 0 params, 1 source, 2 target (outer, extent, inner). Grid: outer * inner invocations.
{% include 'lib/items.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/softmax.wgsl' %}

fn run_item(row: u32) {
  let start = row_start(row);
  var largest = load(start, 0u);
  var first = 0u;
  for (var k = 1u; k < params.extent; k++) {
    let x = load(start, k);
    first = select(first, k, x > largest);
    largest = max_or_nan(largest, x);
  }
  var total = 0.0;
  for (var k = 0u; k < params.extent; k++) {
    total += exp(load(start, k) - largest);
  }
  for (var k = 0u; k < params.extent; k++) {
    store(start, k, largest, total, first);
  }
}
