#include "ik/engine.h"

#include "ik/engine_judge.h"
#include "ik/engine_polish.h"
#include "ik/engine_search.h"
#include "ik/engine_steps.h"
#include "core/threadpool.h"

namespace robomorph {

template <std::size_t L>
IkEngine<L>::IkEngine(const IkPlan& plan, const IkBatch& batch, IkQueue& queue, char* memory)
    : plan_(plan), batch_(batch), queue_(queue) {
  const std::size_t bytes = a_.place(plan, memory) - round_up(plan.workspace);
  std::memset(memory, 0, bytes);
  speculation_.place(plan, memory + bytes + round_up(plan.workspace));
  for (std::size_t i = 0; i < plan.rows; ++i) std::fill_n(a_.weights + i * L, L, plan.weights[i]);
  std::fill_n(a_.lam, L, 1.0);
  for (std::size_t i = 0; i < plan.nv; ++i) std::fill_n(a_.mask + i * L, L, plan.held[i] ? 0.0 : 1.0);
  // Idle lanes must hold a configuration that every program can evaluate.
  for (std::size_t i = 0; i < plan.nq; ++i) std::fill_n(a_.q + i * L, L, batch.start[i]);
}

template <std::size_t L>
void IkEngine<L>::run() {
  while (true) {
    bool busy = false;
    for (std::size_t l = 0; l < L; ++l) {
      if (lanes_[l].phase == Phase::kIdle) refill(l);
      busy = busy || lanes_[l].phase != Phase::kIdle;
    }
    if (!busy) return;
    move_lanes();
    evaluate();
    for (std::size_t l = 0; l < L; ++l) {
      if (lanes_[l].phase != Phase::kIdle) judge(l);
    }
    now_ ^= 1;
  }
}

namespace {

struct Job {
  const IkPlan& plan;
  const IkBatch& batch;
  IkQueue queue;
  std::atomic<bool> out_of_memory{false};
};

template <std::size_t L>
void work(void* context, std::size_t, std::size_t) {
  Job& job = *static_cast<Job*>(context);
  IkArrays arrays;
  IkSpeculation speculation;
  char* memory = thread_scratch(arrays.place(job.plan, nullptr) + speculation.place(job.plan, nullptr));
  if (memory == nullptr) {
    job.out_of_memory = true;
    return;
  }
  IkEngine<L>(job.plan, job.batch, job.queue, memory).run();
}

Task task_for(std::size_t lanes) {
  switch (lanes) {
    case 1: return work<1>;
    case 2: return work<2>;
    case 4: return work<4>;
    default: return work<8>;
  }
}

}  // namespace

bool ik_solve(const IkPlan& plan, const IkBatch& batch, std::size_t threads) {
  if (batch.count == 0) return true;
  Job job{plan, batch, IkQueue(batch.count)};
  const std::size_t useful = std::min(threads, (batch.count + plan.lanes - 1) / plan.lanes);
  global_pool().run(std::max<std::size_t>(useful, 1), task_for(plan.lanes), &job);
  return !job.out_of_memory;
}

}  // namespace robomorph
