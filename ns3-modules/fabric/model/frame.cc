// SPDX-License-Identifier: GPL-2.0-only

#include "frame.h"

#include "ns3/abort.h"

#include <sys/mman.h>

namespace ns3
{
namespace fabric
{

namespace
{

/// Reserve address space; pages come into being when first written.
void*
Reserve(size_t bytes)
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

} // namespace

FramePool::FramePool()
    : m_frames(static_cast<Frame*>(Reserve(sizeof(Frame) * CAPACITY))),
      m_stampsPs(static_cast<uint64_t*>(Reserve(sizeof(uint64_t) * CAPACITY)))
{
    // Huge pages cut address translation misses: frames are reached in random order.
    madvise(m_frames, sizeof(Frame) * CAPACITY, MADV_HUGEPAGE);
}

FramePool::~FramePool()
{
    munmap(m_frames, sizeof(Frame) * CAPACITY);
    munmap(m_stampsPs, sizeof(uint64_t) * CAPACITY);
}

void
FramePool::FailFull() const
{
    NS_ABORT_MSG("More than " << CAPACITY
                              << " frames are queued or on wires at once; lower the switch "
                                 "buffers, the windows or the number of flows");
}

} // namespace fabric
} // namespace ns3
