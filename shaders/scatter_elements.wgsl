// target[.., indices[.., j, ..], ..] takes updates[.., j, ..] along one axis, replaced or merged.
// Bindings: 0 params, 1 indices, 2 updates, 3 target, a copy of the data already.
// Grid: one invocation for each update; with a reduction for each line along the axis, which it
// goes through in order, so that no two invocations share an element.
struct Axis {
  extent: u32,
  target_stride: u32,
  update_stride: u32,
  unused: u32,
}

struct Params {
  count: u32,
  turn_stride: u32,
  extent: u32,
  stride: u32,
  first_turn: u32,
  @size(12) end_turn: u32,
  axes: array<Axis, {{ rank }}>,
}

{% include 'lib/scatter.wgsl' %}

@compute @workgroup_size({{ group_size }})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  var rest = linear_index(group, groups, local, {{ group_size }}u);
  if (rest >= params.count) {
    return;
  }
  var start = 0u;
  var update = 0u;
  for (var axis = {{ rank }}u; axis > 0u; axis--) {
    let a = params.axes[axis - 1u];
    let coordinate = rest % a.extent;
    rest /= a.extent;
    start += coordinate * a.target_stride;
    update += coordinate * a.update_stride;
  }
  for (var turn = params.first_turn; turn < params.end_turn; turn++) {
    let at = update + turn * params.turn_stride;
    let i = indices[at];
    let offset = start + resolve_index({{ index_load }}, params.extent) * params.stride;
    let merged = merge(Value(destination[offset]), Value(updates[at]));
    destination[offset] = {{ element }}(merged);
  }
}
