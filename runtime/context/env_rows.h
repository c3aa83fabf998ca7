/* The variables of the library, a row each: ROW(NAME, value when nobody gives one, allowed words, help, what this build
 * lacks), as struct env_row has them. */
ROW(BACKEND, "", "",
    "native, seq, openmp, cuda, hip or opencl; several with ',' between them: by the rank's "
    "number on its machine, the last one for all others; unset: the best that works, but "
    "never opencl",
    NULL)
ROW(THREADS, "", "#1-1024",
    "threads; unset: OMP_NUM_THREADS, else this rank's share of the CPUs (no more than its "
    "container's quota)",
    NULL)
ROW(DEVICE, "", "",
    "number of the GPU; for opencl PLATFORM:DEVICE, each a number or a part of its name; unset: the "
    "first, or the rank's within the node",
    NULL)
ROW(MPI, "auto", "auto|on|off", "MPI; auto: if it runs already, or mpirun started the program", NEEDS_MPI)
ROW(CACHE, "", "", "the kernel database's file, or off; unset: op2jit/kernels.db in the cache folder", NULL)
ROW(CACHE_RO, "", "", "read-only databases to look in as well, separated by ':'", NULL)
ROW(JIT, "on", "on|load|off",
    "load: compile nothing, a loop that is not in the cache is an error; off: OP2_BACKEND=native only", NULL)
ROW(TUNE, "auto", "", "auto, off, use, force, or seconds to spend", NULL)
ROW(LAZY, "auto", "auto|off|on|check",
    "auto: loops that repeat wait where that is expected to be faster, and run as chains; on: "
    "all loops wait until the program looks; check: and are compared with loops one by one",
    NULL)
ROW(FUSE, "auto", "auto|on|off",
    "loops that wait (OP2_LAZY) and are neighbours over one set run as one; auto: where that is "
    "measured, or on GPUs expected, to be faster; on: always; off: never",
    NULL)
ROW(TILES, "", "#64-64G", "for tests: bytes of a tile; chains of any size, on any mesh, are cut into such",
    NULL)
ROW(TASKS, "", "#64-64G",
    "for tests: bytes of a block; chains run as blocks of such that wait for one another", NULL)
ROW(LAYERS, "1", "#1-4",
    "ranks: layers of others' elements that loops which wait may compute as well, to send "
    "less often",
    NULL)
ROW(VARIANT, "", "", "[LOOP:]NAME[,...]: force a variant, for all loops or one", NULL)
ROW(FP, "contract", "strict|contract|fast", "what the compiler may do with floating point", NULL)
ROW(REPRODUCIBLE, "off", "off|on",
    "on: the same bits on any number of threads and ranks, in any order of elements and "
    "in any variant; sums are made in the order of the program's numbers",
    NULL)
ROW(CHECK, "off", "",
    "off, on, or loop names: run the checking form; list, or list: and loop names: collect "
    "what it finds, and go on",
    NULL)
ROW(SHADOW, "", "", "BACKEND[:N]: also run each (N-th) loop there and compare", NULL)
ROW(ADJOINT, "off", "off|check",
    "check: each adjoint loop that the library made is tested against its tangent when it first runs", NULL)
ROW(CHECKPOINT, "", "",
    "FILE,every=10min: write what a run that died goes on from, and go on from it; every= takes s, "
    "min, h, or a number of loops; values=64M: the most bytes of values that left; beside=off: the "
    "program waits for the file",
    NEEDS_HDF5)
ROW(CAPTURE, "", "",
    "LOOP:CALL:FILE: that call goes into a file, for `op2jit replay`; CALL+N: N calls from "
    "there on; CALL+: all until the loop comes again",
    NULL)
ROW(LOG, "warn", "",
    "error, warn, info or debug, and categories, separated by ',': jit, cache, tune, plan, loop, "
    "mpi, cuda, io, chain, check, perf, env, team; advice: at op_exit, what would pay",
    NULL)
ROW(PROGRESS, "auto", "auto|on|off",
    "what takes long says so on stderr while it lasts; auto: if that is a terminal; on: also "
    "in a file or pipe, as lines",
    NULL)
ROW(DUMP, "", "", "folder for generated sources and binaries", NULL)
ROW(TIMING, "", "", "report at op_exit: text, text:all, html:FILE, json:FILE or trace:FILE", NULL)
ROW(COUNTERS, "", "",
    "counters of the processor and the system in reports, by loop: on, or some of cycles, "
    "instructions, cache-misses, branch-misses, page-faults, task-clock, with ',' between them",
    NULL)
ROW(PIN, "off", "off|on",
    "on: ranks of a machine that the launcher left on the same CPUs share these out, each its "
    "own that lie together, by hwloc",
    NEEDS_MPI)
ROW(HANG, "", "#1-86400", "a rank that waits for so many seconds says where", NEEDS_MPI)
ROW(MPI_GPU, "auto", "auto|on|off",
    "give MPI the memory of GPUs; auto: if MPI says that it takes it, and ranks of a machine "
    "write into each other's, without MPI",
    NEEDS_MPI)
ROW(WEIGHTS, "measured", "measured|equal",
    "weight of an element for op_partition: the time that loops over it took so far, or 1", NEEDS_MPI)
ROW(SPEEDS, "", "",
    "how fast ranks are beside each other, for op_partition: numbers with ',' between them, by the "
    "rank's number on its machine, the last one for all others; measured; equal; unset: measured where "
    "ranks have different backends or under OP2_BALANCE=on, else equal",
    NEEDS_MPI)
ROW(BALANCE, "auto", "auto|on|off",
    "deal the mesh out anew while the program runs: on: whenever ranks take times that differ by a "
    "tenth; auto: once, where ranks have different backends",
    NEEDS_MPI)
ROW(L3, "", "#64K-64G",
    "bytes of last-level cache of the whole machine, with K, M or G; unset: what the machine "
    "says, if it can be "
    "true",
    NULL)
ROW(MACHINE, "", "", "for tests: a folder to read in place of /sys/devices/system/cpu", NULL)
ROW(KERNELS, "", "",
    "folder to look for files of OP_KERNEL_FILE in first; unset: that of the program's source, "
    "that of the program, the working one",
    NULL)
ROW(INCLUDE, "", "",
    "folders, with ':' between them, to look in for files of #include in kernels, and of "
    "op_prelude_file; first "
    "comes the folder of the file that includes, last the working one",
    NULL)
ROW(CXXFLAGS, "", "",
    "programs of OP2: the -I, -D and -std of their sources, which are read for the texts of "
    "kernels; folders begin where the compiler ran; unset: what debug information says",
    NULL)
ROW(PLUGINS, "", "", "folder to look for plugins in first", NULL)
ROW(TOOLS, "", "",
    "shared libraries of tools, with ':' between them: of op2jit_tools.h or of the Kokkos Tools "
    "interface; nvtx: ranges for NVIDIA's profilers",
    NULL)
ROW(NVRTC, "", "", "the NVRTC library to open", NEEDS_CUDA)
ROW(CUDA_DRIVER, "", "", "the CUDA driver library to open", NEEDS_CUDA)
ROW(DEPENDENT, "auto", "auto|off",
    "short loops on NVIDIA's GPUs begin before the one before has ended, and wait there; "
    "auto: where that is measured to be faster",
    NEEDS_CUDA)
ROW(HIP, "", "", "the HIP library to open; unset: libamdhip64.so", NEEDS_HIP)
ROW(HIPRTC, "", "", "the HIPRTC library to open", NEEDS_HIP)
ROW(OPENCL, "", "", "the OpenCL library to open; unset: libOpenCL.so.1", NEEDS_OPENCL)
