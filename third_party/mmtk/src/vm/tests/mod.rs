#[cfg(not(feature = "malloc_counted_size"))]
mod malloc_api;

#[cfg(feature = "mock_test")]
mod mock_tests;
