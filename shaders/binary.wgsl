// Applies a function of two arguments to each pair of elements, with broadcasting.
// Bindings: 0 params, 1 and 2 the operands, 3 the dense target.
// Grid: one invocation for each element, or for each four of the innermost axis. An operand that
// does not vary along that axis is read as a scalar and spread over the four.
alias Left = {{ left_value }};
alias Right = {{ right_value }};
alias Result = {{ result }};

struct Params {
  count: u32,
  alpha: f32,
  beta: f32,
  scale: f32,
  axes: array<vec4<u32>, {{ rank }}>,  // extent, strides of left and right
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> left: array<{{ left }}>;
@group(0) @binding(2) var<storage, read> right: array<{{ right }}>;
@group(0) @binding(3) var<storage, read_write> destination: array<{{ target }}>;

{% include 'lib/items.wgsl' %}
{% set operands = 2 %}
{% include 'lib/walk.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/int64.wgsl' %}
{% include 'lib/power.wgsl' %}
{% include 'lib/remainder.wgsl' %}
{% include 'lib/activation.wgsl' %}

fn apply(x: Left, y: Right) -> Result {
  let scale = params.scale;
  return {{ expression }};
}

fn run_item(index: u32) {
  let at = offsets_of(index);
  let x = {{ load_left }}({{ wide_left }}(left[at.x]));
  let y = {{ load_right }}({{ wide_right }}(right[at.y]));
  destination[index] = {{ target }}({{ call }});
}
