// Sliding windows: which taps of an output position fall on the input, and where.
// The host gives each axis as two vectors of integers:
//   extents = (input, output, kernel, padding at the beginning)
//   steps   = (stride, dilation, gcd of both, inverse of dilation / gcd modulo stride / gcd)
// The last two are read by transposed_taps alone. Needs `alias Index` (i32, never a float).

// What slides along depth, height and width.
struct Windows {
  d_extents: vec4<Index>,
  d_steps: vec4<Index>,
  h_extents: vec4<Index>,
  h_steps: vec4<Index>,
  w_extents: vec4<Index>,
  w_steps: vec4<Index>,
}

// The position along depth, height and width of the output's element ``at``, and its channel,
// batches counted through.
fn output_position(at: Index, windows: Windows) -> vec4<Index> {
  let row = at / windows.w_extents.y;
  let plane = row / windows.h_extents.y;
  return vec4<Index>(
    plane % windows.d_extents.y, row % windows.h_extents.y, at % windows.w_extents.y,
    plane / windows.d_extents.y);
}

struct Taps {
  kernel: Index,      // index of the first tap within the kernel
  kernel_step: Index,
  source: Index,      // the input position under it
  source_step: Index,
  count: Index,
}

fn ceil_div(a: Index, b: Index) -> Index {
  return (a + b - 1) / b;
}

// Convolutions and pools: tap k reads input position o * stride - padding + k * dilation.
fn window_taps(o: Index, extents: vec4<Index>, steps: vec4<Index>) -> Taps {
  let start = o * steps.x - extents.w;
  let first = ceil_div(max(0, -start), steps.y);
  let last = min(extents.z, ceil_div(max(0, extents.x - start), steps.y));
  return Taps(first, 1, start + first * steps.y, steps.y, max(0, last - first));
}

// Transposed convolutions: tap k reads input position (o + padding - k * dilation) / stride, and
// only where that is a whole number: every (stride / gcd)-th tap from the first that fits.
fn transposed_taps(o: Index, extents: vec4<Index>, steps: vec4<Index>) -> Taps {
  let position = o + extents.w;
  let kernel_step = steps.x / steps.z;
  let source_step = steps.y / steps.z;
  let first = ((position / steps.z) % kernel_step * steps.w) % kernel_step;
  if (position % steps.z != 0 || first >= extents.z) {
    return Taps(0, 1, 0, 1, 0);
  }
  let source = (position - first * steps.y) / steps.x;
  let skipped = ceil_div(max(0, source - extents.x + 1), source_step);
  let reaching = max(0, source + source_step) / source_step;
  let fitting = min(ceil_div(extents.z - first, kernel_step), reaching);
  return Taps(
    first + skipped * kernel_step,
    kernel_step,
    source - skipped * source_step,
    -source_step,
    max(0, fitting - skipped),
  );
}
