pub mod sanity_checker;
