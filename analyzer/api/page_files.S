/* The bytes of the page's files, each from its symbol to symbol_end. */
#define PAGE_FILE(symbol, name, type) \
	.global symbol; .global symbol##_end; symbol: .incbin name; symbol##_end:

	.section .rodata
#include "analyzer/api/page_files.h"

	.section .note.GNU-stack, "", %progbits
