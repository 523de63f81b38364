import { Button } from "@mantine/core";
import { translator } from "../../i18n.ts";

const t = translator("common");

/** The way to the next entries of a list; nothing when there are none. */
export function Pager({ hasMore, loading, onMore }: { hasMore: boolean; loading: boolean; onMore: () => void }) {
  if (!hasMore) return null;
  return (
    <div className="pager">
      <Button variant="default" loading={loading} onClick={onMore}>
        {t("more")}
      </Button>
    </div>
  );
}
