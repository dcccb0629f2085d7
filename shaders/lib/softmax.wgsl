// What one row's softmax needs: bindings, the row's walk, and the function of each element.
struct Params {
  count: u32,  // of rows
  extent: u32,
  inner: u32,
  unused: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<{{ element }}>;
@group(0) @binding(2) var<storage, read_write> destination: array<{{ element }}>;

// Where a row starts; its elements are params.inner apart.
fn row_start(row: u32) -> u32 {
  return row / params.inner * params.extent * params.inner + row % params.inner;
}

fn load(start: u32, k: u32) -> f32 {
  return f32(source[start + k * params.inner]);
}

fn store(start: u32, k: u32, largest: f32, total: f32, first: u32) {
  let x = load(start, k);
  let is_first = k == first;
  destination[start + k * params.inner] = {{ element }}({{ result }});
}
