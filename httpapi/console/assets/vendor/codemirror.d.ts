export * from "../../web/codemirror.mjs";
export * from "../../web/types";
