// target[.., j, ..] = data[.., indices[.., j, ..], ..] along one axis.
// Bindings: 0 params, 1 data, 2 indices (of the target's shape), 3 target.
// Grid: one invocation for each element of the target.
struct Axis {
  extent: u32,
  data_stride: u32,
  unused_0: u32,
  unused_1: u32,
}

struct Params {
  count: u32,
  extent: u32,
  stride: u32,
  unused: u32,
  axes: array<Axis, {{ rank }}>,
}

{% include 'lib/gather.wgsl' %}

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
  var rest = at;
  let i = indices[at];
  var offset = resolve_index({{ index_load }}, params.extent) * params.stride;
  for (var axis = {{ rank }}u; axis > 0u; axis--) {
    let a = params.axes[axis - 1u];
    offset += rest % a.extent * a.data_stride;
    rest /= a.extent;
  }
  destination[at] = data[offset];
}
