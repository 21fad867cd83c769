; What rustc_codegen_nvvm hands to LLVM 7 for the kernel in ../split-barrier.md, by hand and with the names kept.
; opt -O3 -S textbook.ll | grep -c 'call void @__nvvm_block_barrier'    prints 2; with `convergent` below, 1.
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@TILE = internal addrspace(3) global [1024 x float] undef, align 4

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare void @__nvvm_block_barrier()

define void @reverse_tile_textbook(float* %in, i64 %n, float* %out) {
start:
  %tid32 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %dim32 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %block32 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %tid = zext i32 %tid32 to i64
  %dim = zext i32 %dim32 to i64
  %block = zext i32 %block32 to i64
  %first = mul i64 %block, %dim
  %i = add i64 %first, %tid
  %inside = icmp ult i64 %i, %n
  br i1 %inside, label %load, label %join

load:
  %from = getelementptr inbounds float, float* %in, i64 %i
  %v = load float, float* %from, align 4
  br label %join

join:
  %x = phi float [ %v, %load ], [ 0.0, %start ]
  %cell = getelementptr inbounds [1024 x float], [1024 x float] addrspace(3)* @TILE, i64 0, i64 %tid
  store float %x, float addrspace(3)* %cell, align 4
  call void @__nvvm_block_barrier()
  %again = icmp ult i64 %i, %n
  br i1 %again, label %copy, label %done

copy:
  %last = sub i64 %dim, 1
  %src = sub i64 %last, %tid
  %other = getelementptr inbounds [1024 x float], [1024 x float] addrspace(3)* @TILE, i64 0, i64 %src
  %y = load float, float addrspace(3)* %other, align 4
  %to = getelementptr inbounds float, float* %out, i64 %i
  store float %y, float* %to, align 4
  br label %done

done:
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{void (float*, i64, float*)* @reverse_tile_textbook, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
