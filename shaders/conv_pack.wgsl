// Packs a weight that is no constant into the layout of conv_tiled, one phase a dispatch.
// Bindings: 0 params; 1 w in ONNX's layout; 2 the packed weight.
// Grid: linear over params.count elements of the phase; an invocation owns one. Packed: group, term
// (input channel, tap along D, H, W), output channel; what fills up both is zero.
alias Element = {{ element }};
alias Index = {{ index }};

{% include 'lib/items.wgsl' %}

struct Params {
  first: u32,   // element of the packed weight where the phase begins
  count: u32,
  group_inputs: Index,
  group_outputs: Index,
  depth: Index,           // terms: group_inputs * taps, filled up
  padded_outputs: Index,
  w_group: Index,   // strides of w: a group, an output channel, an input channel
  w_output: Index,
  w_input: Index,
  unused0: u32,
  unused1: u32,
  unused2: u32,
  taps: vec4<Index>,         // along D, H, W, and their product
  kernel: vec4<Index>,       // extents of the kernel
  kernel_first: vec4<Index>, // index of the phase's first tap within the kernel
  kernel_step: vec4<Index>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> w: array<Element>;
@group(0) @binding(2) var<storage, read_write> packed: array<Element>;

fn run_item(item: u32) {
  let at = Index(item);
  let m = at % params.padded_outputs;
  let term = at / params.padded_outputs % params.depth;
  let part = at / params.padded_outputs / params.depth;
  let c = term / params.taps.w;
  let tap = term % params.taps.w;
  let tap_row = tap / params.taps.z;
  let j = vec3<Index>(tap_row / params.taps.y, tap_row % params.taps.y, tap % params.taps.z);
  let k = params.kernel_first.xyz + j * params.kernel_step.xyz;
  let from_tap = (k.x * params.kernel.y + k.y) * params.kernel.z + k.z;
  let real = m < params.group_outputs && c < params.group_inputs;
  let source = part * params.w_group + m * params.w_output + c * params.w_input + from_tap;
  packed[params.first + item] = Element(select(0.0, f32(w[select(0, source, real)]), real));
}
