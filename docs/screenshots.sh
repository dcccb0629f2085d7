#!/bin/sh
# Draws docs/images/*.png anew: what README.md shows. Needs an adapter (llvmpipe will do), no display.
# The pictures change with every run, because they show times; commit those that are worth it.
set -eu

cd -- "$(dirname -- "$0")/.."  # the pictures show paths: they are to be short and nobody's own
images=docs/images
samples=resources/samples
opscope() { ./run "$@"; }
mkdir -p "$images"

opscope shot "$samples/denoiser_f32_opset22.onnx" -o "$images/loaded.png" \
    --node mask_gru --target opscope
opscope shot "$samples/denoiser_f32_opset22.onnx" -o "$images/ort-webgpu.png" \
    --node mask_gru --target ort-webgpu
opscope shot "$samples/warnings.onnx" -o "$images/matrix.png" \
    --node gru_softsign --target ort-webgpu
opscope shot "$samples/warnings.onnx" -o "$images/difference.png" \
    --node make_field --target ort-webgpu --against ort-cuda
opscope shot "$samples/denoiser_f32_opset22.onnx" -o "$images/copies.png" \
    --node decoder_overlap_add --target ort-dml --theme dark
opscope shot "$samples/denoiser_f32_opset17.onnx" -o "$images/time.png" \
    --node mask_gru --run --runs 60 --panel charts
opscope shot "$samples/warnings.onnx" -o "$images/problems.png" \
    --node upsample --target ort-webgpu --color risk --theme dark
opscope report "$samples/denoiser_f32_opset22.onnx" -o "$images/report.png" \
    --node mask_gru --target ort-webgpu --run --runs 60 --color provider
opscope shot "$images/report.png" -o "$images/reopened.png"

for image in "$images"/*.png; do
    size=$(wc -c <"$image")
    if [ "$size" -gt 500000 ]; then
        echo "$image has $size bytes; 500000 are allowed" >&2
        exit 1
    fi
done
