# A template: `.ci/formula SHA256SUMS` fills in what stands between @s, for the tap that a release goes to.
class Mcpr < Formula
  desc "One endpoint in front of many MCP servers"
  homepage "https://github.com/mcpr-dev/mcpr"
  version "@VERSION@"
  license any_of: ["MIT", "Apache-2.0"]

  on_macos do
    on_arm do
      url "https://github.com/mcpr-dev/mcpr/releases/download/v@VERSION@/mcpr-@VERSION@-aarch64-apple-darwin.tar.gz"
      sha256 "@aarch64-apple-darwin@"
    end
    on_intel do
      url "https://github.com/mcpr-dev/mcpr/releases/download/v@VERSION@/mcpr-@VERSION@-x86_64-apple-darwin.tar.gz"
      sha256 "@x86_64-apple-darwin@"
    end
  end

  on_linux do
    on_arm do
      url "https://github.com/mcpr-dev/mcpr/releases/download/v@VERSION@/mcpr-@VERSION@-aarch64-unknown-linux-musl.tar.gz"
      sha256 "@aarch64-unknown-linux-musl@"
    end
    on_intel do
      url "https://github.com/mcpr-dev/mcpr/releases/download/v@VERSION@/mcpr-@VERSION@-x86_64-unknown-linux-musl.tar.gz"
      sha256 "@x86_64-unknown-linux-musl@"
    end
  end

  def install
    bin.install "mcpr-gateway", "mcpr-ctl"
    man1.install Dir["man/*.1"]
    %w[mcpr-gateway mcpr-ctl].each do |name|
      bash_completion.install "completions/#{name}.bash" => name
      fish_completion.install "completions/#{name}.fish"
      zsh_completion.install "completions/#{name}.zsh" => "_#{name}"
    end
    doc.install "README.md", "CHANGELOG.md"
  end

  def caveats
    <<~EOS
      The gateway started by `brew services` shows no first token where its log can be read by others.
      Make one while it runs, or before:
        mcpr-ctl tokens create --name NAME
      and for the entry of a client:
        mcpr-ctl clients print NAME
    EOS
  end

  service do
    run [opt_bin/"mcpr-gateway", "serve"]
    keep_alive successful_exit: false
    environment_variables PATH: std_service_path_env
    error_log_path var/"log/mcpr-gateway.err.log"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/mcpr-gateway --version")
    (testpath/"mcpr.json").write '{ "mcpServers": {} }'
    system bin/"mcpr-gateway", "check", "--config", testpath/"mcpr.json"
  end
end
