// target[o, d, i] = values[1] where d is the index at [o, i], else values[0].
// Bindings: 0 params, 1 indices (outer, inner), 2 values (off, on), 3 target (outer, depth, inner).
// Grid: one invocation for each element. An index outside of -depth .. depth - 1 is nowhere on.
struct Params {
  count: u32,
  depth: u32,
  inner: u32,
  unused: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> indices: array<{{ index }}>;
@group(0) @binding(2) var<storage, read> values: array<{{ element }}>;
@group(0) @binding(3) var<storage, read_write> destination: array<{{ element }}>;

{% include 'lib/items.wgsl' %}
{% include 'lib/int64.wgsl' %}

fn run_item(at: u32) {
  let place = i32(at / params.inner % params.depth);
  let i = indices[at / params.inner / params.depth * params.inner + at % params.inner];
  let index = {{ index_load }};
  let on = index == place || (index < 0 && index + i32(params.depth) == place);
  destination[at] = values[select(0u, 1u, on)];
}
