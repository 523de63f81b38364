import { useEffect, useState } from "react";
import { translator } from "../../../../shared/i18n.ts";

type Props = { page: number; pages: number; onPage: (page: number) => void };

/** "Page 3 of 500": shows where one is, and goes where one types. */
export function PageNumber({ page, pages, onPage }: Props) {
  const t = translator("templates");
  const [typed, setTyped] = useState(String(page));
  useEffect(() => setTyped(String(page)), [page]);
  const go = () => {
    const wanted = Math.round(Number(typed));
    if (Number.isFinite(wanted) && wanted >= 1) onPage(Math.min(pages, wanted));
    setTyped(String(page));
  };
  return (
    <label className="canvas-page-number">
      <span>{t("canvas.page")}</span>
      <input
        inputMode="numeric"
        value={typed}
        aria-label={t("canvas.pageOf", { page, pages })}
        style={{ width: `${String(pages).length + 2}ch` }}
        onChange={(event) => setTyped(event.currentTarget.value)}
        onFocus={(event) => event.currentTarget.select()}
        onBlur={() => setTyped(String(page))}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          event.preventDefault();
          go();
        }}
      />
      <span>{t("canvas.of", { pages })}</span>
    </label>
  );
}
