// Copies elements between two strided views.
// Bindings: 0 params, 1 source, 2 target. Grid: one invocation for each element of the walk,
// which reads that element from the source and is the only one to write it to the target.
alias Element = {{ element }};

struct Params {
  count: u32,
  source_base: u32,
  target_base: u32,
  unused: u32,
  axes: array<vec4<u32>, {{ rank }}>,  // extent, strides of source and target
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<Element>;
@group(0) @binding(2) var<storage, read_write> destination: array<Element>;

{% include 'lib/items.wgsl' %}
{% set operands = 2 %}
{% include 'lib/walk.wgsl' %}

fn run_item(index: u32) {
  let at = offsets_of(index);
  destination[params.target_base + at.y] = source[params.source_base + at.x];
}
