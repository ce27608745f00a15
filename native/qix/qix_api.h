int qix_format_version(void);
