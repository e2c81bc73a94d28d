//! Namespace System.Text.

pub mod encoding_helper;
pub mod normalization;
