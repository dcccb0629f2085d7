// Reduces some axes, one workgroup for each result: strided sums, then a tree.
// Bindings: 0 params, 1 source, 2 dense target. Grid: as many workgroups as there are results.
alias Value = {{ value }};
alias Result = {{ result }};

{% include 'lib/grid.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/elementary.wgsl' %}
{% include 'lib/reduction.wgsl' %}
{% include 'lib/reduce_axes.wgsl' %}

var<workgroup> partial: array<Accumulator, {{ group_size }}>;

@compute @workgroup_size({{ group_size }})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  // A group beyond the last repeats its work: barriers need every invocation.
  let at = min(linear_index(group, groups, 0u, 1u), params.count - 1u);
  let start = kept_offset(at);
  var total = identity();
  for (var r = local; r < params.length; r += {{ group_size }}u) {
    total = merge(total, prepare(Value(source[start + reduced_offset(r)]), r));
  }
  partial[local] = total;
  workgroupBarrier();
  for (var half = {{ group_size }}u / 2u; half > 0u; half /= 2u) {
    if (local < half) {
      partial[local] = merge(partial[local], partial[local + half]);
    }
    workgroupBarrier();
  }
  if (local == 0u) {
    destination[at] = {{ target }}(finish(partial[0]));
  }
}
