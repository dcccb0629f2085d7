// target[.., j, ..] = data[.., indices[.., j, ..], ..] along one axis.
// Bindings: 0 params, 1 data, 2 indices (of the target's shape), 3 target.
// Grid: one invocation for each element of the target.
struct Params {
  count: u32,
  extent: u32,
  stride: u32,
  first_word: u32,
  axes: array<vec4<u32>, {{ rank }}>,  // extent of the target, stride of the data
}

{% include 'lib/gather.wgsl' %}
{% set operands = 2 %}
{% include 'lib/walk.wgsl' %}

fn run_item(at: u32) {
  let i = indices[at];
  let picked = resolve_index({{ index_load }}, params.extent, params.first_word);
  destination[at] = data[offsets_of(at).x + picked * params.stride];
}
