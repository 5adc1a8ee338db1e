"""How many threads a team of OpenMP's has: fewer where those of a team wait for one another.

On a machine with other work a thread that has done its share waits until the others are given a core again, which takes as long as the system's turns do: some
milliseconds, for shares of some microseconds. So the first thread looks at the clock when it has done its share, and when all have, and so at barriers. What it waited beyond
twice its own work and `PATIENCE` is lost. (It has at most one turn less than another, and one at least: `for_static_init_8u`, and kernels' tasks.) Where that is half of some time (`WINDOW`),
teams have half as many threads, down to one, for as long as was lost, and then twice as many again; where these lose as much at once, for twice as long, up to
`REST` times. So on a crowded machine one part in `REST` goes to trying, where that is over teams are soon whole, and now and then a late thread changes
nothing.

After a pause the system may wake a thread on the processor of the first one, which waits for it there, and leave it for many calls' time: on a machine
of two processors that share no cache, it does. So a thread of a team steps aside from there (`@step_aside`).

The functions are text in LLVM IR, for either runtime (`openmp`).
"""

from __future__ import annotations

PATIENCE = 0.0005
"""Seconds: more than it takes to wake a thread that sleeps, less than a turn that the system gives another process."""
WINDOW = 0.5
"""Seconds."""
REST = 32
LOOKED_AT = 4
"""One team of so many is looked at: that takes as long as a small loop."""
BARRIERS = 8
"""One of its barriers of so many is, the first among them."""

WORDS = 16
"""Of 64 bits, of a set of processors (`cpu_set_t`); of a machine that has more, threads stay where they are."""

SET = f"i{WORDS * 64}"

NEEDED = {
    "omp_get_thread_num": "declare i32 @omp_get_thread_num()",
    "omp_get_max_threads": "declare i32 @omp_get_max_threads()",
    "omp_get_num_threads": "declare i32 @omp_get_num_threads()",
    "omp_get_wtime": "declare double @omp_get_wtime()",
    "sched_getcpu": "declare i32 @sched_getcpu()",
    "sched_getaffinity": "declare i32 @sched_getaffinity(i32, i64, ptr)",
    "sched_setaffinity": "declare i32 @sched_setaffinity(i32, i64, ptr)",
}
"""What of a runtime they call, and of the system."""

IF_LOOKED_AT = """  %end_at = getelementptr %team, ptr %task, i32 0, i32 2
  %end = load double, ptr %end_at
  %is_looked_at = fcmp oge double %end, 0.0
"""
"""When the first thread of a task's team had done its share, and whether the team is one that is looked at."""

FUNCTIONS = f"""
; A task: a function, its argument, when the first thread had done its share, and the processor that it is on.
%team = type {{ ptr, ptr, double, i32 }}
@halvings = internal global i32 0
@until = internal global double 0.0
@since = internal global double 0.0
@lost = internal global double 0.0
@times = internal global double 0.0
@window = internal global double 0.0
@total = internal global double 0.0
@rest = internal global double 1.0
@passed = internal global i32 0
@teams = internal global i32 0

; What a thread of a team runs, of a task.
define internal void @work(ptr %number_at, ptr %zero_at, ptr %task, i32 %number) {{
  %function = load ptr, ptr %task
  %argument_at = getelementptr %team, ptr %task, i32 0, i32 1
  %argument = load ptr, ptr %argument_at
  %is_first = icmp eq i32 %number, 0
  br i1 %is_first, label %run, label %other
other:
  %firsts_at = getelementptr %team, ptr %task, i32 0, i32 3
  %firsts = load i32, ptr %firsts_at
  %own = call i32 @sched_getcpu()
  %is_in_the_way = icmp eq i32 %own, %firsts
  br i1 %is_in_the_way, label %aside, label %run
aside:
  call void @step_aside(i32 %own)
  br label %run
run:
  call void %function(ptr %number_at, ptr %zero_at, ptr %argument)
  br i1 %is_first, label %first, label %done
first:
{IF_LOOKED_AT}  br i1 %is_looked_at, label %look, label %done
look:
  %now = call double @omp_get_wtime()
  store double %now, ptr %end_at
  br label %done
done:
  ret void
}}

; A thread leaves a processor for another one that it may be on, if there is one for each of its team.
define internal void @step_aside(i32 %cpu) noinline {{
  %set = alloca [{WORDS} x i64]
  %failed = call i32 @sched_getaffinity(i32 0, i64 {WORDS * 8}, ptr %set)
  %is_known = icmp eq i32 %failed, 0
  br i1 %is_known, label %known, label %done
known:
  %all = load {SET}, ptr %set
  %count = call {SET} @llvm.ctpop.{SET}({SET} %all)
  %processors = trunc {SET} %count to i32
  %threads = call i32 @omp_get_num_threads()
  %is_enough = icmp ule i32 %threads, %processors
  br i1 %is_enough, label %leave, label %done
leave:
  %at = zext i32 %cpu to {SET}
  %this = shl {SET} 1, %at
  %but = xor {SET} %this, -1
  %others = and {SET} %all, %but
  store {SET} %others, ptr %set
  %went = call i32 @sched_setaffinity(i32 0, i64 {WORDS * 8}, ptr %set)
  store {SET} %all, ptr %set
  %may_return = call i32 @sched_setaffinity(i32 0, i64 {WORDS * 8}, ptr %set)
  br label %done
done:
  ret void
}}
declare {SET} @llvm.ctpop.{SET}({SET})

; The first thread began to work at @since, and waited from one time to another, which stands for some times as much in its team, and the team for others.
define internal void @waited(double %from, double %to, double %times) {{
  %since = load atomic double, ptr @since unordered, align 8
  %worked = fsub double %from, %since
  %twice = fmul double %worked, 2.0
  %bound = fadd double %twice, {PATIENCE}
  %waited = fsub double %to, %from
  store atomic double %to, ptr @since unordered, align 8
  %is_late = fcmp ogt double %waited, %bound
  br i1 %is_late, label %late, label %done
late:
  %before = load atomic double, ptr @lost unordered, align 8
  %stands_for = load atomic double, ptr @times unordered, align 8
  %of_team = fmul double %waited, %times
  %all = fmul double %of_team, %stands_for
  %lost = fadd double %before, %all
  store atomic double %lost, ptr @lost unordered, align 8
  br label %done
done:
  ret void
}}

; How many threads the team of a task has, 0 for all: when the rest is over, twice as many from team to team.
define internal i32 @begin(ptr %task) {{
  %end_at = getelementptr %team, ptr %task, i32 0, i32 2
  store atomic double 0.0, ptr @lost unordered, align 8
  %teams = load atomic i32, ptr @teams unordered, align 4
  %next = add i32 %teams, 1
  store atomic i32 %next, ptr @teams unordered, align 4
  %cpu_at = getelementptr %team, ptr %task, i32 0, i32 3
  %cpu = call i32 @sched_getcpu()
  store i32 %cpu, ptr %cpu_at
  %turn = urem i32 %teams, {LOOKED_AT}
  %is_turn = icmp eq i32 %turn, 0
  %halvings = load atomic i32, ptr @halvings unordered, align 4
  %is_part = icmp ne i32 %halvings, 0
  %is_looked_at = or i1 %is_turn, %is_part
  br i1 %is_looked_at, label %look, label %pass
pass:
  store double -1.0, ptr %end_at
  store atomic i32 -1, ptr @passed unordered, align 4
  ret i32 0
look:
  %now = call double @omp_get_wtime()
  store double %now, ptr %end_at
  store atomic double %now, ptr @since unordered, align 8
  store atomic i32 0, ptr @passed unordered, align 4
  %times = select i1 %is_part, double 1.0, double {LOOKED_AT}.0
  store atomic double %times, ptr @times unordered, align 8
  br i1 %is_part, label %part, label %whole
whole:
  ret i32 0
part:
  %until = load atomic double, ptr @until unordered, align 8
  %is_over = fcmp oge double %now, %until
  %step = zext i1 %is_over to i32
  %now_halvings = sub i32 %halvings, %step
  store atomic i32 %now_halvings, ptr @halvings unordered, align 4
  %most = call i32 @omp_get_max_threads()
  %some = lshr i32 %most, %now_halvings
  %count = call i32 @llvm.umax.i32(i32 %some, i32 1)
  ret i32 %count
}}
declare i32 @llvm.umax.i32(i32, i32)
declare double @llvm.minnum.f64(double, double)

; The team of a task has done its work. The first one had its threads made.
define internal void @done(ptr %task) {{
{IF_LOOKED_AT}  br i1 %is_looked_at, label %look, label %judge
look:
  %now = call double @omp_get_wtime()
  call void @waited(double %end, double %now, double 1.0)
  br label %judge
judge:
  %lost = load atomic double, ptr @lost unordered, align 8
  %is_lost = fcmp ogt double %lost, 0.0
  br i1 %is_lost, label %late, label %done
late:
  %later = call double @omp_get_wtime()
  %teams = load atomic i32, ptr @teams unordered, align 4
  %is_first = icmp eq i32 %teams, 1
  br i1 %is_first, label %done, label %add
add:
  %window = load atomic double, ptr @window unordered, align 8
  %passed = fsub double %later, %window
  %is_old = fcmp ogt double %passed, {WINDOW}
  %begun = select i1 %is_old, double %later, double %window
  store atomic double %begun, ptr @window unordered, align 8
  %sum = load atomic double, ptr @total unordered, align 8
  %before = select i1 %is_old, double 0.0, double %sum
  %total = fadd double %before, %lost
  store atomic double %total, ptr @total unordered, align 8
  %is_much = fcmp ogt double %total, {WINDOW / 2}
  br i1 %is_much, label %fewer, label %done
fewer:
  store atomic double 0.0, ptr @window unordered, align 8
  %halvings = load atomic i32, ptr @halvings unordered, align 4
  %more = add i32 %halvings, 1
  store atomic i32 %more, ptr @halvings unordered, align 4
  %before_until = load atomic double, ptr @until unordered, align 8
  %tried = fsub double %later, %before_until
  %is_again = fcmp olt double %tried, {2 * WINDOW}
  %last = load atomic double, ptr @rest unordered, align 8
  %double = fmul double %last, 2.0
  %longer = call double @llvm.minnum.f64(double %double, double {REST}.0)
  %times = select i1 %is_again, double %longer, double 1.0
  store atomic double %times, ptr @rest unordered, align 8
  %rest = fmul double %total, %times
  %until = fadd double %later, %rest
  store atomic double %until, ptr @until unordered, align 8
  br label %done
done:
  ret void
}}
"""


def fork_call(team: str, alone: str) -> str:
    """The body of LLVM's `fork_call`, whose parameters are %0 ...: `team` has %threads, or all for 0, run %task, and `alone` one thread."""
    return f"""
  %task = alloca %team
  %threads = call i32 @begin(ptr %task)
  %is_one = icmp eq i32 %threads, 1
  br i1 %is_one, label %alone, label %team
team:
  store ptr %2, ptr %task
  %argument_at = getelementptr %team, ptr %task, i32 0, i32 1
  store ptr %3, ptr %argument_at{team}
  call void @done(ptr %task)
  ret void
alone:{alone}
  ret void"""


def barrier(wait: str, first: str) -> str:
    """The body of LLVM's `barrier`: `wait` waits for all threads of a team, whose first one has this number."""
    return f"""
  %is_first = icmp eq i32 %1, {first}
  br i1 %is_first, label %count, label %wait
count:
  %passed = load atomic i32, ptr @passed unordered, align 4
  %is_passed_by = icmp slt i32 %passed, 0
  br i1 %is_passed_by, label %wait, label %counted
counted:
  %next = add i32 %passed, 1
  store atomic i32 %next, ptr @passed unordered, align 4
  %phase = urem i32 %passed, {BARRIERS}
  switch i32 %phase, label %wait [
    i32 0, label %look
    i32 {BARRIERS - 1}, label %begin
  ]
wait:{wait}
  ret void
begin:{wait}
  %now = call double @omp_get_wtime()
  store atomic double %now, ptr @since unordered, align 8
  ret void
look:
  %from = call double @omp_get_wtime(){wait}
  %to = call double @omp_get_wtime()
  %is_begun = icmp eq i32 %passed, 0
  %times = select i1 %is_begun, double 1.0, double {BARRIERS}.0
  call void @waited(double %from, double %to, double %times)
  ret void"""
