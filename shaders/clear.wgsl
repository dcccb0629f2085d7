// Sets words to zero. Bindings: x. Grid: one invocation per word.
struct Params {
  count: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> x: array<u32>;

{% include 'lib/items.wgsl' %}

fn run_item(index: u32) {
  x[index] = 0u;
}
