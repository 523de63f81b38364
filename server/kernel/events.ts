/**
 * In-process notification that something behind a topic changed (an envelope's audit trail, for example).
 * It carries no data: a subscriber reads the database again, so a lost or doubled notification does no harm.
 */
export type Events = {
  publish(topic: string): void;
  /** @returns a function that ends the subscription */
  subscribe(topic: string, listener: () => void): () => void;
};

export function createEvents(): Events {
  const topics = new Map<string, Set<() => void>>();
  return {
    publish(topic) {
      const listeners = topics.get(topic);
      if (listeners !== undefined) for (const listener of [...listeners]) listener();
    },
    subscribe(topic, listener) {
      const listeners = topics.get(topic) ?? new Set();
      topics.set(topic, listeners);
      // A wrapper of its own: the same function may be subscribed twice and is then ended twice.
      const entry = () => listener();
      listeners.add(entry);
      return () => {
        listeners.delete(entry);
        if (listeners.size === 0 && topics.get(topic) === listeners) topics.delete(topic);
      };
    },
  };
}
