/*
** In front of the patched sqlite3.c, for ../unit.c: ATTACH comes to mcTestAttach(), which is there.
*/
#define mcAttach mcTestAttach
#include_next <sqlite3.c>
#undef mcAttach
