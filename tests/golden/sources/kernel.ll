define void @robomorph_inverse_dynamics_x4(ptr %in, ptr %out, ptr %ws) #0 {
  %in0a = getelementptr ptr, ptr %in, i64 0
  %in0 = load ptr, ptr %in0a
  %in1a = getelementptr ptr, ptr %in, i64 1
  %in1 = load ptr, ptr %in1a
  %in2a = getelementptr ptr, ptr %in, i64 2
  %in2 = load ptr, ptr %in2a
  %out0a = getelementptr ptr, ptr %out, i64 0
  %out0 = load ptr, ptr %out0a
  %in0_row0p = getelementptr double, ptr %in0, i64 0
  %in0_row0v = load <2 x double>, ptr %in0_row0p, align 8
  %in0_row0 = shufflevector <2 x double> %in0_row0v, <2 x double> poison, <2 x i32> <i32 0, i32 1>
  %in0_row1p = getelementptr double, ptr %in0, i64 2
  %in0_row1v = load <2 x double>, ptr %in0_row1p, align 8
  %in0_row1 = shufflevector <2 x double> %in0_row1v, <2 x double> poison, <2 x i32> <i32 0, i32 1>
  %in0_row2p = getelementptr double, ptr %in0, i64 4
  %in0_row2v = load <2 x double>, ptr %in0_row2p, align 8
  %in0_row2 = shufflevector <2 x double> %in0_row2v, <2 x double> poison, <2 x i32> <i32 0, i32 1>
  %in0_row3p = getelementptr double, ptr %in0, i64 6
  %in0_row3v = load <2 x double>, ptr %in0_row3p, align 8
  %in0_row3 = shufflevector <2 x double> %in0_row3v, <2 x double> poison, <2 x i32> <i32 0, i32 1>
  %in0_tj2_0_0 = shufflevector <2 x double> %in0_row0, <2 x double> %in0_row2, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %in0_tj2_1_0 = shufflevector <2 x double> %in0_row1, <2 x double> %in0_row3, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %in0_t1_0 = shufflevector <4 x double> %in0_tj2_0_0, <4 x double> %in0_tj2_1_0, <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %in0_t1_1 = shufflevector <4 x double> %in0_tj2_0_0, <4 x double> %in0_tj2_1_0, <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %in0_l0 = getelementptr <4 x double>, ptr %ws, i64 0
  store <4 x double> %in0_t1_0, ptr %in0_l0, align 32
  %in0_l1 = getelementptr <4 x double>, ptr %ws, i64 1
  store <4 x double> %in0_t1_1, ptr %in0_l1, align 32
  %in1_row0p = getelementptr double, ptr %in1, i64 0
  %in1_row0v = load <2 x double>, ptr %in1_row0p, align 8
  %in1_row0 = shufflevector <2 x double> %in1_row0v, <2 x double> poison, <2 x i32> <i32 0, i32 1>
  %in1_row1p = getelementptr double, ptr %in1, i64 2
  %in1_row1v = load <2 x double>, ptr %in1_row1p, align 8
  %in1_row1 = shufflevector <2 x double> %in1_row1v, <2 x double> poison, <2 x i32> <i32 0, i32 1>
  %in1_row2p = getelementptr double, ptr %in1, i64 4
  %in1_row2v = load <2 x double>, ptr %in1_row2p, align 8
  %in1_row2 = shufflevector <2 x double> %in1_row2v, <2 x double> poison, <2 x i32> <i32 0, i32 1>
  %in1_row3p = getelementptr double, ptr %in1, i64 6
  %in1_row3v = load <2 x double>, ptr %in1_row3p, align 8
  %in1_row3 = shufflevector <2 x double> %in1_row3v, <2 x double> poison, <2 x i32> <i32 0, i32 1>
  %in1_tj2_0_0 = shufflevector <2 x double> %in1_row0, <2 x double> %in1_row2, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %in1_tj2_1_0 = shufflevector <2 x double> %in1_row1, <2 x double> %in1_row3, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %in1_t1_0 = shufflevector <4 x double> %in1_tj2_0_0, <4 x double> %in1_tj2_1_0, <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %in1_t1_1 = shufflevector <4 x double> %in1_tj2_0_0, <4 x double> %in1_tj2_1_0, <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %in1_l0 = getelementptr <4 x double>, ptr %ws, i64 2
  store <4 x double> %in1_t1_0, ptr %in1_l0, align 32
  %in1_l1 = getelementptr <4 x double>, ptr %ws, i64 3
  store <4 x double> %in1_t1_1, ptr %in1_l1, align 32
  %in2_row0p = getelementptr double, ptr %in2, i64 0
  %in2_row0v = load <2 x double>, ptr %in2_row0p, align 8
  %in2_row0 = shufflevector <2 x double> %in2_row0v, <2 x double> poison, <2 x i32> <i32 0, i32 1>
  %in2_row1p = getelementptr double, ptr %in2, i64 2
  %in2_row1v = load <2 x double>, ptr %in2_row1p, align 8
  %in2_row1 = shufflevector <2 x double> %in2_row1v, <2 x double> poison, <2 x i32> <i32 0, i32 1>
  %in2_row2p = getelementptr double, ptr %in2, i64 4
  %in2_row2v = load <2 x double>, ptr %in2_row2p, align 8
  %in2_row2 = shufflevector <2 x double> %in2_row2v, <2 x double> poison, <2 x i32> <i32 0, i32 1>
  %in2_row3p = getelementptr double, ptr %in2, i64 6
  %in2_row3v = load <2 x double>, ptr %in2_row3p, align 8
  %in2_row3 = shufflevector <2 x double> %in2_row3v, <2 x double> poison, <2 x i32> <i32 0, i32 1>
  %in2_tj2_0_0 = shufflevector <2 x double> %in2_row0, <2 x double> %in2_row2, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %in2_tj2_1_0 = shufflevector <2 x double> %in2_row1, <2 x double> %in2_row3, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %in2_t1_0 = shufflevector <4 x double> %in2_tj2_0_0, <4 x double> %in2_tj2_1_0, <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %in2_t1_1 = shufflevector <4 x double> %in2_tj2_0_0, <4 x double> %in2_tj2_1_0, <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %in2_l0 = getelementptr <4 x double>, ptr %ws, i64 4
  store <4 x double> %in2_t1_0, ptr %in2_l0, align 32
  %in2_l1 = getelementptr <4 x double>, ptr %ws, i64 5
  store <4 x double> %in2_t1_1, ptr %in2_l1, align 32
  call void @chunk0(ptr %in, ptr %out, ptr %ws)
  call void @chunk1(ptr %in, ptr %out, ptr %ws)
  %out0_c0p = getelementptr <4 x double>, ptr %ws, i64 6
  %out0_c0 = load <4 x double>, ptr %out0_c0p, align 32
  %out0_c1p = getelementptr <4 x double>, ptr %ws, i64 7
  %out0_c1 = load <4 x double>, ptr %out0_c1p, align 32
  %out0_t1_0 = shufflevector <4 x double> %out0_c0, <4 x double> %out0_c1, <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %out0_t1_1 = shufflevector <4 x double> %out0_c0, <4 x double> %out0_c1, <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %out0_tr0 = shufflevector <4 x double> %out0_t1_0, <4 x double> poison, <2 x i32> <i32 0, i32 1>
  %out0_tr1 = shufflevector <4 x double> %out0_t1_1, <4 x double> poison, <2 x i32> <i32 0, i32 1>
  %out0_tr2 = shufflevector <4 x double> %out0_t1_0, <4 x double> poison, <2 x i32> <i32 2, i32 3>
  %out0_tr3 = shufflevector <4 x double> %out0_t1_1, <4 x double> poison, <2 x i32> <i32 2, i32 3>
  %out0_p0 = getelementptr double, ptr %out0, i64 0
  store <2 x double> %out0_tr0, ptr %out0_p0, align 8
  %out0_p1 = getelementptr double, ptr %out0, i64 2
  store <2 x double> %out0_tr1, ptr %out0_p1, align 8
  %out0_p2 = getelementptr double, ptr %out0, i64 4
  store <2 x double> %out0_tr2, ptr %out0_p2, align 8
  %out0_p3 = getelementptr double, ptr %out0, i64 6
  store <2 x double> %out0_tr3, ptr %out0_p3, align 8
  ret void
}

define internal void @sincos(<4 x double> %x, ptr %sin_out, ptr %cos_out) noinline #0 {
  %shifted = call <4 x double> @llvm.fma.v4f64(<4 x double> %x, <4 x double> splat (double 0x3FE45F306DC9C883), <4 x double> splat (double 0x4338000000000000))
  %k = fsub <4 x double> %shifted, splat (double 0x4338000000000000)
  %minus_k = fneg <4 x double> %k
  %r0 = call <4 x double> @llvm.fma.v4f64(<4 x double> %minus_k, <4 x double> splat (double 0x3FF921FB54442D18), <4 x double> %x)
  %r1 = call <4 x double> @llvm.fma.v4f64(<4 x double> %minus_k, <4 x double> splat (double 0x3C91A62633145C07), <4 x double> %r0)
  %r = call <4 x double> @llvm.fma.v4f64(<4 x double> %minus_k, <4 x double> splat (double 0xB91F1976B7ED8FBC), <4 x double> %r1)
  %z = fmul <4 x double> %r, %r
  %s5 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> splat (double 0xBD6AE7F3E733B81F), <4 x double> splat (double 0x3DE6124613A86D09))
  %s4 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %s5, <4 x double> splat (double 0xBE5AE64567F544E4))
  %s3 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %s4, <4 x double> splat (double 0x3EC71DE3A556C734))
  %s2 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %s3, <4 x double> splat (double 0xBF2A01A01A01A01A))
  %s1 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %s2, <4 x double> splat (double 0x3F81111111111111))
  %s0 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %s1, <4 x double> splat (double 0xBFC5555555555555))
  %c5 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> splat (double 0x3D2AE7F3E733B81F), <4 x double> splat (double 0xBDA93974A8C07C9D))
  %c4 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %c5, <4 x double> splat (double 0x3E21EED8EFF8D898))
  %c3 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %c4, <4 x double> splat (double 0xBE927E4FB7789F5C))
  %c2 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %c3, <4 x double> splat (double 0x3EFA01A01A01A01A))
  %c1 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %c2, <4 x double> splat (double 0xBF56C16C16C16C17))
  %c0 = call <4 x double> @llvm.fma.v4f64(<4 x double> %z, <4 x double> %c1, <4 x double> splat (double 0x3FA5555555555555))
  %rz = fmul <4 x double> %r, %z
  %sine = call <4 x double> @llvm.fma.v4f64(<4 x double> %rz, <4 x double> %s0, <4 x double> %r)
  %zz = fmul <4 x double> %z, %z
  %near = call <4 x double> @llvm.fma.v4f64(<4 x double> splat (double 0xBFE0000000000000), <4 x double> %z, <4 x double> splat (double 0x3FF0000000000000))
  %cosine = call <4 x double> @llvm.fma.v4f64(<4 x double> %zz, <4 x double> %c0, <4 x double> %near)
  %q = bitcast <4 x double> %shifted to <4 x i64>
  %odd_bit = and <4 x i64> %q, splat (i64 1)
  %odd = icmp ne <4 x i64> %odd_bit, splat (i64 0)
  %sin_raw = select <4 x i1> %odd, <4 x double> %cosine, <4 x double> %sine
  %cos_raw = select <4 x i1> %odd, <4 x double> %sine, <4 x double> %cosine
  %sin_half = and <4 x i64> %q, splat (i64 2)
  %q1 = add <4 x i64> %q, splat (i64 1)
  %cos_half = and <4 x i64> %q1, splat (i64 2)
  %sin_sign = shl <4 x i64> %sin_half, splat (i64 62)
  %cos_sign = shl <4 x i64> %cos_half, splat (i64 62)
  %sin_bits = bitcast <4 x double> %sin_raw to <4 x i64>
  %cos_bits = bitcast <4 x double> %cos_raw to <4 x i64>
  %sin_flip = xor <4 x i64> %sin_bits, %sin_sign
  %cos_flip = xor <4 x i64> %cos_bits, %cos_sign
  %sin_good = bitcast <4 x i64> %sin_flip to <4 x double>
  %cos_good = bitcast <4 x i64> %cos_flip to <4 x double>
  %size = call <4 x double> @llvm.fabs.v4f64(<4 x double> %x)
  %fits = fcmp ole <4 x double> %size, splat (double 0x42C0000000000000)
  %sin = select <4 x i1> %fits, <4 x double> %sin_good, <4 x double> splat (double 0x7FF8000000000000)
  %cos = select <4 x i1> %fits, <4 x double> %cos_good, <4 x double> splat (double 0x7FF8000000000000)
  store <4 x double> %sin, ptr %sin_out, align 32
  store <4 x double> %cos, ptr %cos_out, align 32
  ret void
}
declare <4 x double> @llvm.fabs.v4f64(<4 x double>)

define internal void @tile_in_1(ptr %rows, i64 %stride, ptr %lanes) noinline #0 {
  %offset0 = mul i64 %stride, 0
  %row0 = getelementptr double, ptr %rows, i64 %offset0
  %offset1 = mul i64 %stride, 1
  %row1 = getelementptr double, ptr %rows, i64 %offset1
  %offset2 = mul i64 %stride, 2
  %row2 = getelementptr double, ptr %rows, i64 %offset2
  %offset3 = mul i64 %stride, 3
  %row3 = getelementptr double, ptr %rows, i64 %offset3
  %a0 = load <1 x double>, ptr %row0, align 8
  %a1 = load <1 x double>, ptr %row1, align 8
  %a2 = load <1 x double>, ptr %row2, align 8
  %a3 = load <1 x double>, ptr %row3, align 8
  %tj1_0_0 = shufflevector <1 x double> %a0, <1 x double> %a1, <2 x i32> <i32 0, i32 1>
  %tj1_0_1 = shufflevector <1 x double> %a2, <1 x double> %a3, <2 x i32> <i32 0, i32 1>
  %tj2_0_0 = shufflevector <2 x double> %tj1_0_0, <2 x double> %tj1_0_1, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %lane0 = getelementptr <4 x double>, ptr %lanes, i64 0
  store <4 x double> %tj2_0_0, ptr %lane0, align 32
  ret void
}

define internal void @tile_in_2(ptr %rows, i64 %stride, ptr %lanes) noinline #0 {
  %offset0 = mul i64 %stride, 0
  %row0 = getelementptr double, ptr %rows, i64 %offset0
  %offset1 = mul i64 %stride, 1
  %row1 = getelementptr double, ptr %rows, i64 %offset1
  %offset2 = mul i64 %stride, 2
  %row2 = getelementptr double, ptr %rows, i64 %offset2
  %offset3 = mul i64 %stride, 3
  %row3 = getelementptr double, ptr %rows, i64 %offset3
  %a0 = load <2 x double>, ptr %row0, align 8
  %a1 = load <2 x double>, ptr %row1, align 8
  %a2 = load <2 x double>, ptr %row2, align 8
  %a3 = load <2 x double>, ptr %row3, align 8
  %tj2_0_0 = shufflevector <2 x double> %a0, <2 x double> %a2, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %tj2_1_0 = shufflevector <2 x double> %a1, <2 x double> %a3, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %t1_0 = shufflevector <4 x double> %tj2_0_0, <4 x double> %tj2_1_0, <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %t1_1 = shufflevector <4 x double> %tj2_0_0, <4 x double> %tj2_1_0, <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %lane0 = getelementptr <4 x double>, ptr %lanes, i64 0
  store <4 x double> %t1_0, ptr %lane0, align 32
  %lane1 = getelementptr <4 x double>, ptr %lanes, i64 1
  store <4 x double> %t1_1, ptr %lane1, align 32
  ret void
}

define internal void @tile_in_4(ptr %rows, i64 %stride, ptr %lanes) noinline #0 {
  %offset0 = mul i64 %stride, 0
  %row0 = getelementptr double, ptr %rows, i64 %offset0
  %offset1 = mul i64 %stride, 1
  %row1 = getelementptr double, ptr %rows, i64 %offset1
  %offset2 = mul i64 %stride, 2
  %row2 = getelementptr double, ptr %rows, i64 %offset2
  %offset3 = mul i64 %stride, 3
  %row3 = getelementptr double, ptr %rows, i64 %offset3
  %a0 = load <4 x double>, ptr %row0, align 8
  %a1 = load <4 x double>, ptr %row1, align 8
  %a2 = load <4 x double>, ptr %row2, align 8
  %a3 = load <4 x double>, ptr %row3, align 8
  %t1_0 = shufflevector <4 x double> %a0, <4 x double> %a1, <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %t1_1 = shufflevector <4 x double> %a0, <4 x double> %a1, <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %t1_2 = shufflevector <4 x double> %a2, <4 x double> %a3, <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %t1_3 = shufflevector <4 x double> %a2, <4 x double> %a3, <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %t2_0 = shufflevector <4 x double> %t1_0, <4 x double> %t1_2, <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %t2_2 = shufflevector <4 x double> %t1_0, <4 x double> %t1_2, <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  %t2_1 = shufflevector <4 x double> %t1_1, <4 x double> %t1_3, <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %t2_3 = shufflevector <4 x double> %t1_1, <4 x double> %t1_3, <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  %lane0 = getelementptr <4 x double>, ptr %lanes, i64 0
  store <4 x double> %t2_0, ptr %lane0, align 32
  %lane1 = getelementptr <4 x double>, ptr %lanes, i64 1
  store <4 x double> %t2_1, ptr %lane1, align 32
  %lane2 = getelementptr <4 x double>, ptr %lanes, i64 2
  store <4 x double> %t2_2, ptr %lane2, align 32
  %lane3 = getelementptr <4 x double>, ptr %lanes, i64 3
  store <4 x double> %t2_3, ptr %lane3, align 32
  ret void
}

define internal void @tile_out_1(ptr %rows, i64 %stride, ptr %lanes) noinline #0 {
  %offset0 = mul i64 %stride, 0
  %row0 = getelementptr double, ptr %rows, i64 %offset0
  %offset1 = mul i64 %stride, 1
  %row1 = getelementptr double, ptr %rows, i64 %offset1
  %offset2 = mul i64 %stride, 2
  %row2 = getelementptr double, ptr %rows, i64 %offset2
  %offset3 = mul i64 %stride, 3
  %row3 = getelementptr double, ptr %rows, i64 %offset3
  %lane0 = getelementptr <4 x double>, ptr %lanes, i64 0
  %a0 = load <4 x double>, ptr %lane0, align 32
  %tr0 = shufflevector <4 x double> %a0, <4 x double> poison, <1 x i32> <i32 0>
  %tr1 = shufflevector <4 x double> %a0, <4 x double> poison, <1 x i32> <i32 1>
  %tr2 = shufflevector <4 x double> %a0, <4 x double> poison, <1 x i32> <i32 2>
  %tr3 = shufflevector <4 x double> %a0, <4 x double> poison, <1 x i32> <i32 3>
  store <1 x double> %tr0, ptr %row0, align 8
  store <1 x double> %tr1, ptr %row1, align 8
  store <1 x double> %tr2, ptr %row2, align 8
  store <1 x double> %tr3, ptr %row3, align 8
  ret void
}

define internal void @tile_out_2(ptr %rows, i64 %stride, ptr %lanes) noinline #0 {
  %offset0 = mul i64 %stride, 0
  %row0 = getelementptr double, ptr %rows, i64 %offset0
  %offset1 = mul i64 %stride, 1
  %row1 = getelementptr double, ptr %rows, i64 %offset1
  %offset2 = mul i64 %stride, 2
  %row2 = getelementptr double, ptr %rows, i64 %offset2
  %offset3 = mul i64 %stride, 3
  %row3 = getelementptr double, ptr %rows, i64 %offset3
  %lane0 = getelementptr <4 x double>, ptr %lanes, i64 0
  %a0 = load <4 x double>, ptr %lane0, align 32
  %lane1 = getelementptr <4 x double>, ptr %lanes, i64 1
  %a1 = load <4 x double>, ptr %lane1, align 32
  %t1_0 = shufflevector <4 x double> %a0, <4 x double> %a1, <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %t1_1 = shufflevector <4 x double> %a0, <4 x double> %a1, <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %tr0 = shufflevector <4 x double> %t1_0, <4 x double> poison, <2 x i32> <i32 0, i32 1>
  %tr1 = shufflevector <4 x double> %t1_1, <4 x double> poison, <2 x i32> <i32 0, i32 1>
  %tr2 = shufflevector <4 x double> %t1_0, <4 x double> poison, <2 x i32> <i32 2, i32 3>
  %tr3 = shufflevector <4 x double> %t1_1, <4 x double> poison, <2 x i32> <i32 2, i32 3>
  store <2 x double> %tr0, ptr %row0, align 8
  store <2 x double> %tr1, ptr %row1, align 8
  store <2 x double> %tr2, ptr %row2, align 8
  store <2 x double> %tr3, ptr %row3, align 8
  ret void
}

define internal void @tile_out_4(ptr %rows, i64 %stride, ptr %lanes) noinline #0 {
  %offset0 = mul i64 %stride, 0
  %row0 = getelementptr double, ptr %rows, i64 %offset0
  %offset1 = mul i64 %stride, 1
  %row1 = getelementptr double, ptr %rows, i64 %offset1
  %offset2 = mul i64 %stride, 2
  %row2 = getelementptr double, ptr %rows, i64 %offset2
  %offset3 = mul i64 %stride, 3
  %row3 = getelementptr double, ptr %rows, i64 %offset3
  %lane0 = getelementptr <4 x double>, ptr %lanes, i64 0
  %a0 = load <4 x double>, ptr %lane0, align 32
  %lane1 = getelementptr <4 x double>, ptr %lanes, i64 1
  %a1 = load <4 x double>, ptr %lane1, align 32
  %lane2 = getelementptr <4 x double>, ptr %lanes, i64 2
  %a2 = load <4 x double>, ptr %lane2, align 32
  %lane3 = getelementptr <4 x double>, ptr %lanes, i64 3
  %a3 = load <4 x double>, ptr %lane3, align 32
  %t1_0 = shufflevector <4 x double> %a0, <4 x double> %a1, <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %t1_1 = shufflevector <4 x double> %a0, <4 x double> %a1, <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %t1_2 = shufflevector <4 x double> %a2, <4 x double> %a3, <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %t1_3 = shufflevector <4 x double> %a2, <4 x double> %a3, <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %t2_0 = shufflevector <4 x double> %t1_0, <4 x double> %t1_2, <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %t2_2 = shufflevector <4 x double> %t1_0, <4 x double> %t1_2, <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  %t2_1 = shufflevector <4 x double> %t1_1, <4 x double> %t1_3, <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %t2_3 = shufflevector <4 x double> %t1_1, <4 x double> %t1_3, <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  %tr0 = shufflevector <4 x double> %t2_0, <4 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %tr1 = shufflevector <4 x double> %t2_1, <4 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %tr2 = shufflevector <4 x double> %t2_2, <4 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  %tr3 = shufflevector <4 x double> %t2_3, <4 x double> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  store <4 x double> %tr0, ptr %row0, align 8
  store <4 x double> %tr1, ptr %row1, align 8
  store <4 x double> %tr2, ptr %row2, align 8
  store <4 x double> %tr3, ptr %row3, align 8
  ret void
}

define dso_local void @chunk0(ptr noalias %in, ptr noalias %out, ptr noalias %ws) noinline #0 {
  %p0 = getelementptr <4 x double>, ptr %ws, i64 1
  %v0 = load <4 x double>, ptr %p0, align 32
  %sp0 = getelementptr <4 x double>, ptr %ws, i64 10
  %cp0 = getelementptr <4 x double>, ptr %ws, i64 11
  call void @sincos(<4 x double> %v0, ptr %sp0, ptr %cp0)
  %v1 = load <4 x double>, ptr %cp0, align 32
  %k1 = getelementptr <4 x double>, ptr %ws, i64 8
  store <4 x double> %v1, ptr %k1, align 32
  %v2 = load <4 x double>, ptr %sp0, align 32
  %k2 = getelementptr <4 x double>, ptr %ws, i64 9
  store <4 x double> %v2, ptr %k2, align 32
  ret void
}

define dso_local void @chunk1(ptr noalias %in, ptr noalias %out, ptr noalias %ws) noinline #0 {
  %p3 = getelementptr <4 x double>, ptr %ws, i64 2
  %v3 = load <4 x double>, ptr %p3, align 32
  %p4 = getelementptr <4 x double>, ptr %ws, i64 3
  %v4 = load <4 x double>, ptr %p4, align 32
  %p5 = getelementptr <4 x double>, ptr %ws, i64 4
  %v5 = load <4 x double>, ptr %p5, align 32
  %p6 = getelementptr <4 x double>, ptr %ws, i64 5
  %v6 = load <4 x double>, ptr %p6, align 32
  %v8 = fmul <4 x double> %v3, splat (double 0x3FE0000000000000)
  %p1 = getelementptr <4 x double>, ptr %ws, i64 8
  %v1 = load <4 x double>, ptr %p1, align 32
  %v9 = fmul <4 x double> %v3, %v1
  %p2 = getelementptr <4 x double>, ptr %ws, i64 9
  %v2 = load <4 x double>, ptr %p2, align 32
  %v10 = fmul <4 x double> %v3, %v2
  %v13 = fmul <4 x double> %v9, splat (double 0x3FA54B17E4B17E4C)
  %v15 = fmul <4 x double> %v4, splat (double 0x3FA55F92C5F92C60)
  %v17 = call <4 x double> @llvm.fma.v4f64(<4 x double> %v8, <4 x double> splat (double 0x3FC0000000000000), <4 x double> %v13)
  %v18 = fmul <4 x double> %v4, splat (double 0x3FC0000000000000)
  %v19 = fmul <4 x double> %v4, %v17
  %v20n = fneg <4 x double> %v9
  %v20 = call <4 x double> @llvm.fma.v4f64(<4 x double> %v20n, <4 x double> %v15, <4 x double> %v19)
  %v21n = fneg <4 x double> %v8
  %v21 = call <4 x double> @llvm.fma.v4f64(<4 x double> %v21n, <4 x double> %v18, <4 x double> %v20)
  %v22 = fmul <4 x double> %v5, splat (double 0x3FE0000000000000)
  %v23 = fmul <4 x double> %v5, %v1
  %v25 = fmul <4 x double> %v1, splat (double 0x40239EB851EB851F)
  %v26n = fneg <4 x double> %v4
  %v26 = call <4 x double> @llvm.fma.v4f64(<4 x double> %v26n, <4 x double> %v10, <4 x double> %v23)
  %v27 = fmul <4 x double> splat (double 0x3FA54B17E4B17E4C), %v26
  %v28 = fmul <4 x double> %v6, splat (double 0x3FA55F92C5F92C60)
  %v29 = call <4 x double> @llvm.fma.v4f64(<4 x double> splat (double 0x3FC0000000000000), <4 x double> %v22, <4 x double> %v27)
  %v30n = fneg <4 x double> splat (double 0x3FC0000000000000)
  %v30 = call <4 x double> @llvm.fma.v4f64(<4 x double> %v30n, <4 x double> %v25, <4 x double> %v28)
  %v31 = fmul <4 x double> splat (double 0x3FC0000000000000), %v26
  %v32n = fneg <4 x double> %v10
  %v32 = call <4 x double> @llvm.fma.v4f64(<4 x double> %v32n, <4 x double> %v15, <4 x double> %v29)
  %v33 = call <4 x double> @llvm.fma.v4f64(<4 x double> %v10, <4 x double> %v17, <4 x double> %v30)
  %o1 = getelementptr <4 x double>, ptr %ws, i64 7
  store <4 x double> %v33, ptr %o1, align 32
  %v34n = fneg <4 x double> %v10
  %v34 = call <4 x double> @llvm.fma.v4f64(<4 x double> %v34n, <4 x double> %v18, <4 x double> %v31)
  %v35 = fmul <4 x double> %v1, %v32
  %v36n = fneg <4 x double> %v2
  %v36 = call <4 x double> @llvm.fma.v4f64(<4 x double> %v36n, <4 x double> %v21, <4 x double> %v35)
  %v37 = call <4 x double> @llvm.fma.v4f64(<4 x double> splat (double 0x3FE0000000000000), <4 x double> %v34, <4 x double> %v36)
  %v38 = call <4 x double> @llvm.fma.v4f64(<4 x double> %v5, <4 x double> splat (double 0x3FC55D0369D0369D), <4 x double> %v37)
  %o0 = getelementptr <4 x double>, ptr %ws, i64 6
  store <4 x double> %v38, ptr %o0, align 32
  ret void
}

declare <4 x double> @llvm.fma.v4f64(<4 x double>, <4 x double>, <4 x double>)
declare <4 x double> @llvm.sqrt.v4f64(<4 x double>)
attributes #0 = { nounwind "stackrealign" "min-legal-vector-width"="256" }
