// The bindings of a reduction, its walk over kept and reduced axes, and what it accumulates.
alias Accumulator = {{ accumulator }};

struct Params {
  count: u32,
  length: u32,
  divisor: u32,
  unused: u32,
  axes: array<vec4<u32>, {{ kept_rank + reduced_rank }}>,  // extent, stride: those kept, then those reduced
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<{{ source }}>;
@group(0) @binding(2) var<storage, read_write> destination: array<{{ target }}>;

// Where a row-major index into the axes from first on, end left out, lies in the source.
fn offset_along(index: u32, first: u32, end: u32) -> u32 {
  var rest = index;
  var offset = 0u;
  for (var axis = end - 1u; axis > first; axis--) {
    let a = params.axes[axis];
    offset += rest % a.x * a.y;
    rest /= a.x;
  }
  return offset + rest * params.axes[first].y;
}

fn kept_offset(index: u32) -> u32 {
  return offset_along(index, 0u, {{ kept_rank }}u);
}

fn reduced_offset(index: u32) -> u32 {
  return offset_along(index, {{ kept_rank }}u, {{ kept_rank + reduced_rank }}u);
}

fn identity() -> Accumulator {
  return {{ identity }};
}

fn prepare(x: Value, index: u32) -> Accumulator {
  return {{ prepare }};
}

fn merge(a: Accumulator, b: Accumulator) -> Accumulator {
  return {{ merge }};
}

fn finish(a: Accumulator) -> Result {
  return {{ finish }};
}
