/** So many tasks wait already that another would only wait in vain; try again later. */
export class PoolBusy extends Error {
  constructor() {
    super("too many tasks wait for a worker");
    this.name = "PoolBusy";
  }
}

export type TaskQueueOptions<Lane extends string> = {
  /** How many tasks run at once. */
  places: number;
  /** How many of them may be of each lane. */
  lanes: Readonly<Record<Lane, number>>;
  /** How many may wait in each lane. */
  maxWaiting: number;
  /** One task of this lane may run though all places are taken: short ones, which must not wait for long ones. */
  besides?: NoInfer<Lane>;
  /** Asked before each task: whether tasks should run one by one, for want of memory. */
  oneByOne?: (() => boolean) | undefined;
};

export type TaskQueue<Lane extends string> = {
  /** Waits for a place; whoever got one gives it back with `leave`. @throws PoolBusy, or the reason of the signal */
  enter(lane: Lane, signal: AbortSignal): Promise<void>;
  leave(lane: Lane): void;
  stats(): { running: number; waiting: number };
};

/**
 * Which task runs next, in front of all threads, so that their time limits cover the work and not the waiting. Each lane
 * is a queue of its own, and lanes take turns: however many tasks wait in one of them, those of the others come next.
 */
export function openTaskQueue<Lane extends string>(options: TaskQueueOptions<Lane>): TaskQueue<Lane> {
  const { places, maxWaiting, oneByOne } = options;
  /** `turn` is the number of its last one; `extra` how many may run when all places are taken. */
  type State = { most: number; extra: number; running: number; waiting: (() => void)[]; turn: number };
  const lanes = new Map<Lane, State>();
  let running = 0;
  let turns = 0;

  function stateOf(lane: Lane): State {
    const known = lanes.get(lane);
    if (known) return known;
    const extra = lane === options.besides ? 1 : 0;
    const state: State = { most: options.lanes[lane], extra, running: 0, waiting: [], turn: 0 };
    lanes.set(lane, state);
    return state;
  }

  function isRoom(state: State): boolean {
    // One goes on in any case, and with its end the next is let in.
    if (running > 0 && oneByOne?.() === true) return false;
    return (running < places || state.running < state.extra) && state.running < state.most;
  }

  function take(state: State): void {
    running += 1;
    state.running += 1;
    state.turn = ++turns;
  }

  /** The next of the lane whose last turn is longest ago, of those with room. @returns whether there was one */
  function letIn(): boolean {
    const able = [...lanes.values()].filter((state) => state.waiting.length > 0 && isRoom(state));
    const [state] = able.toSorted((a, b) => a.turn - b.turn);
    const next = state?.waiting.shift();
    if (!state || !next) return false;
    take(state);
    next();
    return true;
  }

  return {
    async enter(lane, signal) {
      signal.throwIfAborted();
      // Those who wait come first; there may be memory again.
      while (letIn());
      const state = stateOf(lane);
      if (state.waiting.length === 0 && isRoom(state)) return take(state);
      if (state.waiting.length >= maxWaiting) throw new PoolBusy();
      await new Promise<void>((resolve, reject) => {
        const turn = () => {
          signal.removeEventListener("abort", giveUp);
          resolve();
        };
        const giveUp = () => {
          state.waiting.splice(state.waiting.indexOf(turn), 1);
          reject(signal.reason);
        };
        signal.addEventListener("abort", giveUp, { once: true });
        state.waiting.push(turn);
      });
    },
    leave(lane) {
      running -= 1;
      stateOf(lane).running -= 1;
      // More than one, where tasks ran one by one and there is memory again.
      while (letIn());
    },
    stats: () => ({ running, waiting: [...lanes.values()].reduce((sum, { waiting }) => sum + waiting.length, 0) }),
  };
}
