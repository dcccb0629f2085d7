// Reduces some axes, one invocation for each result.
// Bindings: 0 params, 1 source, 2 dense target. Grid: as many invocations as there are results.
alias Value = {{ value }};
alias Result = {{ result }};

{% include 'lib/grid.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/elementary.wgsl' %}
{% include 'lib/reduction.wgsl' %}
{% include 'lib/reduce_axes.wgsl' %}

@compute @workgroup_size({{ group_size }})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let at = linear_index(group, groups, local, {{ group_size }}u);
  if (at >= params.count) {
    return;
  }
  let start = kept_offset(at);
  var total = identity();
  for (var r = 0u; r < params.length; r++) {
    total = merge(total, prepare(Value(source[start + reduced_offset(r)]), r));
  }
  destination[at] = {{ target }}(finish(total));
}
