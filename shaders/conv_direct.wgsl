// Convolution (or its transpose) of any geometry; best for few channels per group.
// Bindings: 0 params; 1 x (N, C, D, H, W); 2 w; 3 bias (M); 4 y (N, M, D, H, W).
// Grid: linear over params.count output elements from params.first on; an invocation owns one.
// The weight is read in ONNX's own layout through strides, so Conv and ConvTranspose share this.
alias Element = {{ element }};
alias Index = {{ index }};

{% include 'lib/items.wgsl' %}
{% include 'lib/math.wgsl' %}
{% include 'lib/activation.wgsl' %}
{% include 'lib/window.wgsl' %}

struct Params {
  first: u32,
  count: u32,
  group_inputs: Index,   // input channels of a group
  group_outputs: Index,  // output channels of a group
  groups: Index,
  w_group: Index,        // strides of the weight: a group, an output channel, an input channel
  w_output: Index,
  w_input: Index,
  alpha: f32,
  beta: f32,
  unused0: u32,
  unused1: u32,
  windows: Windows,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> x: array<Element>;
@group(0) @binding(2) var<storage, read> w: array<Element>;
@group(0) @binding(3) var<storage, read> bias: array<Element>;
@group(0) @binding(4) var<storage, read_write> y: array<Element>;

fn run_item(item: u32) {
  let at = Index(params.first + item);
  let windows = params.windows;
  let o = output_position(at, windows);
  let channels = params.groups * params.group_outputs;
  let m = o.w % channels;
  let n = o.w / channels;
  let part = m / params.group_outputs;

  let td = {{ taps }}(o.x, windows.d_extents, windows.d_steps);
  let th = {{ taps }}(o.y, windows.h_extents, windows.h_steps);
  let tw = {{ taps }}(o.z, windows.w_extents, windows.w_steps);
  let x_row = windows.w_extents.x;
  let x_plane = x_row * windows.h_extents.x;
  let x_channel = x_plane * windows.d_extents.x;
  let w_row = windows.w_extents.z;
  let w_plane = w_row * windows.h_extents.z;

  var x_base = (n * params.groups + part) * params.group_inputs * x_channel
    + td.source * x_plane + th.source * x_row + tw.source;
  var w_base = part * params.w_group + m % params.group_outputs * params.w_output
    + td.kernel * w_plane + th.kernel * w_row + tw.kernel;
  var sum = 0.0;
  for (var c = 0; c < params.group_inputs; c++) {
    for (var d = 0; d < td.count; d++) {
      for (var h = 0; h < th.count; h++) {
        var x_at = x_base + d * td.source_step * x_plane + h * th.source_step * x_row;
        var w_at = w_base + d * td.kernel_step * w_plane + h * th.kernel_step * w_row;
        for (var k = 0; k < tw.count; k++) {
          sum = fma(f32(x[x_at]), f32(w[w_at]), sum);
          x_at += tw.source_step;
          w_at += tw.kernel_step;
        }
      }
    }
    x_base += x_channel;
    w_base += params.w_input;
  }
  let value = activate_{{ activation }}(sum + f32(bias[m]), params.alpha, params.beta);
  y[at] = Element(value);
}
