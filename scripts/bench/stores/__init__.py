"""What benchmarks of the store and of the live index share: parameters, and stores full of pages."""
