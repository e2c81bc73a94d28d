# fish completion for saki: the command itself says what to offer (saki __complete).

function __saki_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l offered ($words[1] __complete $words[2..-1] "$current" 2>/dev/null)
    set -l directive (string split ' ' -- $offered[1])
    for line in $offered[2..-1]
        echo $line
    end
    contains -- "$directive[1]" :files :folders; or return
    # The word before the file's name, and what is behind it.
    set -l head (string sub -l $directive[2] -- $current)
    set -l path (string sub -s (math $directive[2] + 1) -- $current)
    set -l extensions $directive[3..-1]
    for file in (complete -C "__saki_no_command $path")
        set -l name (string split -m 1 \t -- $file)[1]
        set -l is_shown 0
        if string match -q '*/' -- $name
            set is_shown 1
        else if test $directive[1] = :files
            test (count $extensions) -eq 0; and set is_shown 1
            for extension in $extensions
                string match -q -- "*.$extension" $name; and set is_shown 1
            end
        end
        test $is_shown -eq 1; and echo "$head$name"
    end
end

complete -c saki -f -a '(__saki_complete)'
