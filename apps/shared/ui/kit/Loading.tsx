import { Skeleton } from "@mantine/core";
import { translator } from "../../i18n.ts";

const t = translator("common");

/** Grey rows in the place of what is coming, so that nothing jumps. */
export function Loading({ rows = 3, height = 44 }: { rows?: number; height?: number }) {
  return (
    <div className="loading" role="status">
      <span className="spoken">{t("loading")}</span>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are alike and never move
        <Skeleton key={row} height={height} radius="md" aria-hidden="true" />
      ))}
    </div>
  );
}
