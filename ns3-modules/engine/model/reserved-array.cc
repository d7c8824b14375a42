// SPDX-License-Identifier: GPL-2.0-only

#include "reserved-array.h"

#include "ns3/abort.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace ns3
{
namespace fabric
{

namespace
{

/// Places for what grows: of the 47 bits of address space of a process on x86-64, programs and
/// their heap lie above these, libraries and stacks at the end, small models and tools below.
constexpr uintptr_t FIRST_PLACE = uintptr_t{1} << 45;
constexpr size_t PLACE_BYTES = size_t{1} << 33;
constexpr uint32_t NUM_PLACES = 4096;

void*
Map(void* hint, size_t bytes, int flag)
{
    constexpr int FLAGS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    return mmap(hint, bytes, PROT_READ | PROT_WRITE, FLAGS | flag, -1, 0);
}

/// @return a file in memory that nobody executes, which Linux before 6.3 cannot promise
int
MakeFile()
{
    constexpr unsigned NEVER_EXECUTED = 8; // MFD_NOEXEC_SEAL
    int file = memfd_create("fabric", MFD_CLOEXEC | NEVER_EXECUTED);
    if (file < 0 && errno == EINVAL)
    {
        file = memfd_create("fabric", MFD_CLOEXEC);
    }
    NS_ABORT_MSG_IF(file < 0,
                    "Cannot make a file in memory (memfd_create), which domains share: "
                        << std::strerror(errno) << "; run in one domain");
    return file;
}

void
FailIf(bool failed, size_t bytes)
{
    NS_ABORT_MSG_IF(failed,
                    "Cannot reserve " << bytes << " bytes of address space; raise 'ulimit -v'");
}

} // namespace

void*
ReserveMemory(size_t bytes)
{
    void* memory = Map(nullptr, bytes, 0);
    FailIf(memory == MAP_FAILED, bytes);
    return memory;
}

/// A place is free if nothing begins there: no array is longer than its place.
size_t
ReserveFirst(void** memory, size_t bytes, size_t mostBytes)
{
    static std::atomic<uint32_t> next{0};
    for (uint32_t tried = 0; tried < NUM_PLACES && mostBytes <= PLACE_BYTES; tried++)
    {
        const uintptr_t place = FIRST_PLACE + (next++ % NUM_PLACES) * PLACE_BYTES;
        void* wanted = reinterpret_cast<void*>(place);
        *memory = Map(wanted, bytes, MAP_FIXED_NOREPLACE);
        if (*memory == wanted)
        {
            return bytes;
        }
        const bool isTaken = *memory == MAP_FAILED && errno == EEXIST;
        if (*memory != MAP_FAILED)
        {
            ReleaseMemory(*memory, bytes);
        }
        if (!isTaken)
        {
            break; // Valgrind and ThreadSanitizer have other uses for these addresses
        }
    }
    *memory = ReserveMemory(mostBytes);
    return mostBytes;
}

void
ReserveMore(void* memory, size_t reservedBytes, size_t bytes)
{
    FailIf(mremap(memory, reservedBytes, bytes, 0) == MAP_FAILED, bytes - reservedBytes);
}

void
ReserveBehind(void* memory, size_t reservedBytes, size_t bytes)
{
    void* end = static_cast<char*>(memory) + reservedBytes;
    FailIf(Map(end, bytes - reservedBytes, MAP_FIXED_NOREPLACE) != end, bytes - reservedBytes);
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
ClearWholePages(void* memory, size_t bytes)
{
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto begin = reinterpret_cast<uintptr_t>(memory);
    const uintptr_t from = (begin + page - 1) / page * page;
    const uintptr_t to = (begin + bytes) / page * page;
    if (from < to)
    {
        ClearMemory(reinterpret_cast<void*>(from), to - from);
    }
}

void
PreferHugePages(void* memory, size_t bytes)
{
    madvise(memory, bytes, MADV_HUGEPAGE);
}

FrozenMemory::FrozenMemory(void* memory, size_t bytes, size_t usedBytes)
    : m_file(MakeFile()),
      m_bytes(bytes)
{
    FailIf(ftruncate(m_file, static_cast<off_t>(bytes)) != 0, bytes);
    for (size_t done = 0; done < usedBytes;)
    {
        const ssize_t n = pwrite(m_file,
                                 static_cast<char*>(memory) + done,
                                 usedBytes - done,
                                 static_cast<off_t>(done));
        FailIf(n <= 0, bytes);
        done += static_cast<size_t>(n);
    }
    MapTo(memory);
}

FrozenMemory::~FrozenMemory()
{
    close(m_file);
}

void
FrozenMemory::MapTo(void* memory) const
{
    constexpr int PROTECTION = PROT_READ | PROT_WRITE;
    constexpr int FLAGS = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
    FailIf(mmap(memory, m_bytes, PROTECTION, FLAGS, m_file, 0) != memory, m_bytes);
}

} // namespace fabric
} // namespace ns3
