/* Included by shared_in_file.h where it is a part of the program. */
