// Quantizes or restores each element with its scale and zero point.
// Bindings: 0 params, 1 source, 2 scales, 3 zero points, 4 target. Grid: one invocation each.
struct Params {
  count: u32,
  inner: u32,
  extent: u32,
  block: u32,
  blocks: u32,
  low: i32,
  high: i32,
  unused: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<{{ source }}>;
@group(0) @binding(2) var<storage, read> scales: array<{{ scale }}>;
@group(0) @binding(3) var<storage, read> zeros: array<{{ zero }}>;
@group(0) @binding(4) var<storage, read_write> destination: array<{{ target }}>;

{% include 'lib/items.wgsl' %}
{% include 'lib/math.wgsl' %}

fn run_item(at: u32) {
  // Without blocks a scale for each position along the axis; with them one for each block of it
  // and each position along the other axes.
  let row = at / params.inner;
  let along = row % params.extent;
  let blocked = (row / params.extent * params.blocks + along / params.block) * params.inner
    + at % params.inner;
  let which = select(along, blocked, params.blocks > 0u);
  let x = source[at];
  let scale = f32(scales[which]);
  let zero = {{ zero_value }}(zeros[which]);
  destination[at] = {{ target }}({{ expression }});
}
