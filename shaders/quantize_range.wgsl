// The scale and zero point of DynamicQuantizeLinear from the data's range, which includes zero.
// Bindings: 1 smallest, 2 largest, 3 scale, 4 zero point, of one element each. Grid: one group.
@group(0) @binding(1) var<storage, read> smallest: array<f32>;
@group(0) @binding(2) var<storage, read> largest: array<f32>;
@group(0) @binding(3) var<storage, read_write> scale: array<f32>;
@group(0) @binding(4) var<storage, read_write> zero_point: array<u32>;

{% include 'lib/math.wgsl' %}

@compute @workgroup_size(1)
fn main() {
  let low = min(smallest[0], 0.0);
  let high = max(largest[0], 0.0);
  let step = divide(high - low, 255.0);
  let zero = select(round(clamp(divide(-low, step), 0.0, 255.0)), 0.0, step == 0.0);
  scale[0] = select(step, 1.0, step == 0.0);
  zero_point[0] = u32(zero);
}
