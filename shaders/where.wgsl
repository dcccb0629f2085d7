// Chooses between two elements by a condition, with broadcasting.
// Bindings: 0 params, 1 condition (words, 0 or 1), 2 and 3 the choices, 4 the dense target.
// Grid: one invocation for each element, or for each four of the innermost axis.
struct Params {
  count: u32,
  axes: array<vec4<u32>, {{ rank }}>,  // extent, strides of condition and choices
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> condition: array<{{ condition }}>;
@group(0) @binding(2) var<storage, read> if_true: array<{{ if_true }}>;
@group(0) @binding(3) var<storage, read> if_false: array<{{ if_false }}>;
@group(0) @binding(4) var<storage, read_write> destination: array<{{ target }}>;

{% include 'lib/items.wgsl' %}
{% set operands = 3 %}
{% include 'lib/walk.wgsl' %}

fn run_item(index: u32) {
  let at = offsets_of(index);
  let chosen = {{ words }}(condition[at.x]) != {{ words }}(0u);
  destination[index] = select({{ target }}(if_false[at.z]), {{ target }}(if_true[at.y]), chosen);
}
