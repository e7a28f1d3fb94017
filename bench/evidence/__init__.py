"""Evidence: recorded results of benchmarks, and the pages whose figures come from them."""
