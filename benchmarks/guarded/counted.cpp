#include "fixed.hpp"

extern "C" void counted(void (*work)(void*), void* of) { work(of); }
