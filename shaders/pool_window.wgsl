// A pool over windows: maximum, average or Lp norm; optionally where the maximum was.
// Bindings: 0 params; 1 x (N*C, D, H, W); 2 y; 3 indices, int64 as (low, high), where wanted.
// Grid: linear over params.count output elements from params.first on; an invocation owns one.
alias Element = {{ element }};
alias Index = {{ index }};

{% include 'lib/items.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/window.wgsl' %}

struct Params {
  first: u32,
  count: u32,
  include_pad: Index,   // average: 1 counts the taps that lie in the padding
  first_axis_fastest: Index,  // indices: 1 counts in column-major order
  p: f32,               // norm
  lowest: u32,          // the bits of -inf, which WGSL cannot spell
  unused0: u32,
  unused1: u32,
  ends: vec4<Index>,    // padding at the end of depth, height, width
  windows: Windows,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Element>;
@group(0) @binding(2) var<storage, read_write> y: array<Element>;
{% if indices %}
@group(0) @binding(3) var<storage, read_write> indices: array<vec2<u32>>;
{% endif %}

// Taps of a window that lie in the input or its padding: the divisor that counts the padding.
fn padded_taps(o: Index, extents: vec4<Index>, steps: vec4<Index>, end: Index) -> Index {
  let room = extents.x + end - (o * steps.x - extents.w);
  return min(extents.z, ceil_div(room, steps.y));
}

struct State {
  value: f32,
  at: Index,
}

fn start_max() -> State {
  return State(bitcast<f32>(params.lowest), -1);
}

// The first of equals wins, and a NaN beats every number.
fn join_max(state: State, value: f32, at: Index) -> State {
  if (state.at < 0 || value > state.value || (is_nan(value) && !is_nan(state.value))) {
    return State(value, at);
  }
  return state;
}

fn finish_max(state: State, taps: Index) -> f32 {
  return state.value;
}

fn start_average() -> State {
  return State(0.0, 0);
}

fn join_average(state: State, value: f32, at: Index) -> State {
  return State(state.value + value, at);
}

fn finish_average(state: State, taps: Index) -> f32 {
  return state.value / f32(max(taps, 1));
}

fn start_norm() -> State {
  return State(0.0, 0);
}

fn join_norm(state: State, value: f32, at: Index) -> State {
  let size = abs(value);
  let square_or_power = select(pow(size, params.p), size * size, params.p == 2.0);
  return State(state.value + select(square_or_power, size, params.p == 1.0), at);
}

fn finish_norm(state: State, taps: Index) -> f32 {
  let root = select(pow(state.value, 1.0 / params.p), sqrt(state.value), params.p == 2.0);
  return select(root, state.value, params.p == 1.0);
}

fn run_item(item: u32) {
  let at = Index(params.first + item);
  let windows = params.windows;
  let o = output_position(at, windows);

  let td = window_taps(o.x, windows.d_extents, windows.d_steps);
  let th = window_taps(o.y, windows.h_extents, windows.h_steps);
  let tw = window_taps(o.z, windows.w_extents, windows.w_steps);
  let row = windows.w_extents.x;
  let plane = row * windows.h_extents.x;
  let base = o.w * plane * windows.d_extents.x;
  var state = start_{{ mode }}();
  for (var d = 0; d < td.count; d++) {
    for (var h = 0; h < th.count; h++) {
      var x_at = base + (td.source + d * td.source_step) * plane
        + (th.source + h * th.source_step) * row + tw.source;
      for (var k = 0; k < tw.count; k++) {
        state = join_{{ mode }}(state, f32(x[x_at]), x_at);
        x_at += tw.source_step;
      }
    }
  }
  var taps = td.count * th.count * tw.count;
  if (params.include_pad == 1) {
    taps = padded_taps(o.x, windows.d_extents, windows.d_steps, params.ends.x)
      * padded_taps(o.y, windows.h_extents, windows.h_steps, params.ends.y)
      * padded_taps(o.z, windows.w_extents, windows.w_steps, params.ends.z);
  }
  let value = finish_{{ mode }}(state, taps);
  y[at] = Element(value);
{% if indices %}
  var found = state.at;
  if (params.first_axis_fastest == 1) {
    let inner = found - base;
    let column_first = inner / row % windows.h_extents.x + inner % row * windows.h_extents.x;
    found = base + inner / plane + column_first * windows.d_extents.x;
  }
  indices[at] = vec2<u32>(u32(found), 0u);
{% endif %}
}
