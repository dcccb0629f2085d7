// target[o, j, i] = data[o, indices[j], i].
// Bindings: 0 params, 1 data (outer, extent, inner), 2 indices, 3 target (outer, indices, inner).
// Grid: one invocation for each element of the target (or vector of neighbours in it).
struct Params {
  count: u32,
  index_count: u32,
  inner: u32,
  extent: u32,
  first_word: u32,
}

{% include 'lib/gather.wgsl' %}

fn run_item(at: u32) {
  let row = at / params.inner;
  let i = indices[row % params.index_count];
  let picked = resolve_index({{ index_load }}, params.extent, params.first_word);
  let outer = row / params.index_count;
  destination[at] = data[(outer * params.extent + picked) * params.inner + at % params.inner];
}
