// The bindings of a reduction, its walk over kept and reduced axes, and what it accumulates.
alias Accumulator = {{ accumulator }};

struct Axis {
  extent: u32,
  stride: u32,
  unused_0: u32,
  unused_1: u32,
}

struct Params {
  count: u32,
  length: u32,
  divisor: u32,
  unused: u32,
  kept: array<Axis, {{ kept_rank }}>,
  reduced: array<Axis, {{ reduced_rank }}>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> source: array<{{ source }}>;
@group(0) @binding(2) var<storage, read_write> destination: array<{{ target }}>;

fn kept_offset(index: u32) -> u32 {
  var rest = index;
  var offset = 0u;
  for (var axis = {{ kept_rank }}u - 1u; axis > 0u; axis--) {
    offset += rest % params.kept[axis].extent * params.kept[axis].stride;
    rest /= params.kept[axis].extent;
  }
  return offset + rest * params.kept[0].stride;
}

fn reduced_offset(index: u32) -> u32 {
  var rest = index;
  var offset = 0u;
  for (var axis = {{ reduced_rank }}u - 1u; axis > 0u; axis--) {
    offset += rest % params.reduced[axis].extent * params.reduced[axis].stride;
    rest /= params.reduced[axis].extent;
  }
  return offset + rest * params.reduced[0].stride;
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
