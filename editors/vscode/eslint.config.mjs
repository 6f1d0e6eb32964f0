// Lint rules of the extension. Comments in the code cannot disable a rule.

import { defineConfig } from "eslint/config";
import { configs } from "typescript-eslint";

export default defineConfig(
  { ignores: ["dist/", "bin/", "out/", "node_modules/", "*.mjs"] },
  {
    files: ["src/**/*.ts", "tests/**/*.ts"],
    extends: [configs.strictTypeChecked, configs.stylisticTypeChecked],
    linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: "error" },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // `void` would hide a failure: the code that starts a promise handles its rejection.
      "@typescript-eslint/no-floating-promises": ["error", { ignoreVoid: false }],
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/await-thenable": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-non-null-assertion": "error",
      // Numbers in messages are fine.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // `() => log.show()` is clear; only using its result is forbidden.
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true }],
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "max-lines": ["error", 300],
      "no-console": "error",
      eqeqeq: "error",
    },
  },
);
