// Applies a function of two arguments to each pair of elements, with broadcasting.
// Bindings: 0 params, 1 and 2 the operands, 3 the dense target.
// Grid: one invocation for each element, or for each four of the innermost axis. An operand that
// does not vary along that axis is read as a scalar and spread over the four.
alias Left = {{ left_value }};
alias Right = {{ right_value }};
alias Result = {{ result }};

// Strides count what an operand's array holds: scalars or vectors.
struct Axis {
  extent: u32,
  left_stride: u32,
  right_stride: u32,
  unused: u32,
}

struct Params {
  count: u32,
  alpha: f32,
  beta: f32,
  scale: f32,
  axes: array<Axis, {{ rank }}>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> left: array<{{ left }}>;
@group(0) @binding(2) var<storage, read> right: array<{{ right }}>;
@group(0) @binding(3) var<storage, read_write> destination: array<{{ target }}>;

{% include 'lib/grid.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/int64.wgsl' %}
{% include 'lib/power.wgsl' %}
{% include 'lib/remainder.wgsl' %}
{% include 'lib/activation.wgsl' %}

fn apply(x: Left, y: Right) -> Result {
  let scale = params.scale;
  return {{ expression }};
}

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
  var left_at = 0u;
  var right_at = 0u;
  for (var axis = {{ rank }}u - 1u; axis > 0u; axis--) {
    let a = params.axes[axis];
    let coordinate = rest % a.extent;
    rest /= a.extent;
    left_at += coordinate * a.left_stride;
    right_at += coordinate * a.right_stride;
  }
  left_at += rest * params.axes[0].left_stride;
  right_at += rest * params.axes[0].right_stride;
  let x = {{ load_left }}({{ wide_left }}(left[left_at]));
  let y = {{ load_right }}({{ wide_right }}(right[right_at]));
  destination[index] = {{ target }}({{ call }});
}
