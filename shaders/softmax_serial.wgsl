// Softmax and its kin, one invocation for each row.
// Bindings: 0 params, 1 source, 2 target (outer, extent, inner). Grid: outer * inner invocations.
{% include 'lib/grid.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/softmax.wgsl' %}

@compute @workgroup_size({{ group_size }})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let row = linear_index(group, groups, local, {{ group_size }}u);
  if (row >= params.rows) {
    return;
  }
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
