// SPDX-License-Identifier: GPL-2.0-only

#include "reserved-array.h"

#include "ns3/abort.h"

#include <sys/mman.h>

namespace ns3
{
namespace fabric
{

void*
ReserveMemory(size_t bytes)
{
    void* memory = mmap(nullptr,
                        bytes,
                        PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                        -1,
                        0);
    NS_ABORT_MSG_IF(memory == MAP_FAILED,
                    "Cannot reserve " << bytes << " bytes of address space; raise 'ulimit -v'");
    return memory;
}

void
ReleaseMemory(void* memory, size_t bytes)
{
    munmap(memory, bytes);
}

void
ClearMemory(void* memory, size_t bytes)
{
    madvise(memory, bytes, MADV_DONTNEED);
}

void
PreferHugePages(void* memory, size_t bytes)
{
    madvise(memory, bytes, MADV_HUGEPAGE);
}

} // namespace fabric
} // namespace ns3
