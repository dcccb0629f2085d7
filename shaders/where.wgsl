// Chooses between two elements by a condition, with broadcasting.
// Bindings: 0 params, 1 condition (words, 0 or 1), 2 and 3 the choices, 4 the dense target.
// Grid: one invocation for each element, or for each four of the innermost axis.
struct Axis {
  extent: u32,
  condition_stride: u32,
  true_stride: u32,
  false_stride: u32,
}

struct Params {
  @size(16) count: u32,
  axes: array<Axis, {{ rank }}>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> condition: array<{{ condition }}>;
@group(0) @binding(2) var<storage, read> if_true: array<{{ if_true }}>;
@group(0) @binding(3) var<storage, read> if_false: array<{{ if_false }}>;
@group(0) @binding(4) var<storage, read_write> destination: array<{{ target }}>;

{% include 'lib/grid.wgsl' %}

@compute @workgroup_size({{ group_size }})
fn main(
  @builtin(workgroup_id) group: vec3<u32>,
  @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let index = linear_index(group, groups, local, {{ group_size }}u);
  if (index >= params.count) {
    return;
  }
  var rest = index;
  var at = vec3<u32>(0u);
  for (var axis = {{ rank }}u - 1u; axis > 0u; axis--) {
    let a = params.axes[axis];
    at += rest % a.extent * vec3<u32>(a.condition_stride, a.true_stride, a.false_stride);
    rest /= a.extent;
  }
  let first = params.axes[0];
  at += rest * vec3<u32>(first.condition_stride, first.true_stride, first.false_stride);
  let chosen = {{ words }}(condition[at.x]) != {{ words }}(0u);
  destination[index] = select({{ target }}(if_false[at.z]), {{ target }}(if_true[at.y]), chosen);
}
