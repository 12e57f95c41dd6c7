/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Macros of libbpf and jansson for cppcheck, which reads no system headers: as
 * much of them as it takes to see which variables they declare and which loops
 * they are.
 */
#define LIBBPF_OPTS(type, name, ...) struct type name = { 0 }
#define DECLARE_LIBBPF_OPTS(type, name, ...) struct type name = { 0 }
#define json_array_foreach(array, index, value) \
	for (index = 0; (value = json_array_get(array, index)); index++)
#define json_object_foreach(object, key, value) \
	for (key = json_next(object); (value = json_get(object, key)); )
