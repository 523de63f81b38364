import type { Capacity, CapacityState } from "../../kernel/capacity.ts";
import type { Finding } from "../health/contract.ts";
import { finding } from "../health/service.ts";

/** What the running appliance knows of its disk, its memory and its stored files, as findings with what to do. */
export async function capacityFindings(capacity: Capacity): Promise<Finding[]> {
  const state = await capacity.look();
  return [storage(state), memory(state), documents(state)];
}

function storage({ storage: level, cause, room }: CapacityState): Finding {
  const one = finding("capacity", "storage");
  const { freeBytes, volumeBytes, usedPercent } = room;
  const left = { freeBytes, volumeBytes, usedPercent };
  switch (level) {
    case "ok":
      return one.ok("capacity.ok", left);
    case "warning":
      return one.warning("capacity.low", left);
    case "full":
      return one.wrong("capacity.full", left);
    case "exhausted":
      return one.wrong("capacity.exhausted", left);
    case "read-only":
      return one.wrong("capacity.read-only", { cause: `${cause}` });
    case "damaged":
      return one.wrong("capacity.damaged", { cause: `${cause}` });
  }
}

function memory({ memory: { low, availableBytes } }: CapacityState): Finding {
  const one = finding("capacity-memory", "machine");
  return low ? one.wrong("capacity-memory.low", { availableBytes }) : one.ok("capacity-memory.ok", { availableBytes });
}

function documents({ badFiles }: CapacityState): Finding {
  const one = finding("stored-files", "storage");
  return badFiles.length === 0
    ? one.ok("stored-files.ok", {})
    : one.wrong("stored-files.bad", { files: badFiles.join(", ") });
}
